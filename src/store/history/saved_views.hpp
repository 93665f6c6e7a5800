// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <vector>

namespace ponk::store {

class History;

// What the page shows of runs, under a name: docs/design/views.md. `text` is for who reads it.
struct SavedView {
    std::string project;  // empty: of all projects
    std::string name;
    std::string text;
};

// The views of all projects: settings whose names begin with "view:PROJECT:". Ids of projects have
// no colon. Safe for several threads.
class SavedViews {
public:
    explicit SavedViews(History& history) : history_(&history) {}

    // By project, then by name.
    Result<std::vector<SavedView>> list() const;
    // Whether it is a new one.
    Result<bool> put(const SavedView& view);
    // `conflict` where the other name is taken.
    Result<> rename(const std::string& project, const std::string& name, const std::string& to);
    Result<> remove(const std::string& project, const std::string& name);

    // Names of settings: those of a project's views are from the first to before the second.
    static std::string first_place(const std::string& project);
    static std::string end_place(const std::string& project);

private:
    History* history_;
};

}  // namespace ponk::store
