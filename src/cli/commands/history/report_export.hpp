// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

struct ReportMade {
    std::string document;
    std::size_t metrics_left_out = 0;
    std::size_t values_left_out = 0;
};

// The report of these runs (docs/design/report.md). `runs_left_out` were chosen, too; `page` is the
// report without data.
Result<ReportMade> make_report(Daemon& daemon,
                               const std::vector<std::string>& run_ids,
                               std::size_t runs_left_out,
                               std::string_view page);

}  // namespace ponk::cli
