// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/git/git_info.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// The names in a repository's index, relative to its work tree.
class TrackedFiles {
public:
    // A repository without an index tracks nothing.
    static Result<TrackedFiles> load(const GitPlace& place);
    // Changes whenever the index does; starts no program.
    static std::string fingerprint(const GitPlace& place);

    explicit TrackedFiles(std::vector<std::string> sorted_paths) : paths_(std::move(sorted_paths))
    {
    }

    [[nodiscard]] bool contains(std::string_view path) const;
    // Something in the folder is tracked, or it is a submodule.
    [[nodiscard]] bool has_any_in(std::string_view folder) const;

private:
    std::vector<std::string> paths_;
};

}  // namespace ponk::config
