// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"

#include <string>
#include <vector>

namespace ponk::cli {

// A view of the runs' table that was saved in the page: docs/design/views.md.
struct SavedView {
    std::string filter;
    std::vector<std::string> order_by;
    std::string columns;             // as --columns takes them; empty: the usual ones
    std::vector<std::string> notes;  // what a terminal's table cannot show
};

// `project`: its id, or empty: a view of all projects. `not_found` names those that there are.
Result<SavedView> get_view(Daemon& daemon, const std::string& project, const std::string& name);

// As the daemon lists it.
SavedView saved_view_from(const Json& view);

}  // namespace ponk::cli
