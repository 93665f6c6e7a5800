// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"

#include <string>

namespace ponk::relay {

// Under which names a script knows the experiment of its run. A run does not move, so all of them
// are the same experiment, and a tag keeps apart what the script put into each. Any thread may
// call.
//
// Clients ask for an experiment by its name before they put runs into it and before they search in
// it, with the same call. What comes next tells which it was.
class ExperimentNames {
public:
    // `last` is where runs went before; empty: nobody has named any.
    ExperimentNames(std::string own, const std::string& last);

    enum class How { found, made };
    // True when runs go there from now on.
    bool name(const std::string& name, How how);

    // Where runs go; empty where that is the experiment's own name.
    [[nodiscard]] std::string of_new_run();
    // Where a search looks; empty: everywhere. The next page of one looks where the first did.
    enum class Page { first, next };
    [[nodiscard]] std::string of_search(Page page);
    // As of a new run, or the experiment's own.
    [[nodiscard]] std::string shown() const;

private:
    struct State {
        std::string active;
        std::string asked;     // the name that was said last
        bool searched = true;  // since it was said
    };
    [[nodiscard]] std::string other(const std::string& name) const;

    const std::string own_;
    mutable Synced<State> state_;
};

}  // namespace ponk::relay
