// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ponk::importer {

struct Tally {
    std::uint64_t found = 0;
    std::uint64_t added = 0;
    std::uint64_t same = 0;     // here already
    std::uint64_t refused = 0;  // another one is here
};

// What an import did, or would do.
class Report {
public:
    Tally experiments;
    Tally runs;
    Tally models;
    Tally registered;
    Tally files;
    std::uint64_t points = 0;  // of runs that were added
    std::uint64_t bytes = 0;   // of files that were

    // Not imported, as it must be.
    void leave_out(std::string where, std::string why);
    // Not imported, though it should have been.
    void complain(std::string where, std::string why);
    [[nodiscard]] std::size_t problems() const noexcept { return problems_.count; }

    enum class Detail { counts, all };
    [[nodiscard]] Json to_json(Detail detail = Detail::all) const;

private:
    struct Remark {
        std::string where;
        std::string why;
        std::uint64_t times = 1;  // that it was said, of several things
    };
    struct Remarks {
        std::vector<Remark> told;
        std::size_t count = 0;

        void add(std::string where, std::string why);
        [[nodiscard]] Json to_json() const;
    };

    Remarks left_out_;
    Remarks problems_;
};

}  // namespace ponk::importer
