// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/source.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::importer {

// Where files of runs and models are that a store names by addresses. A store may come from
// somebody else, so what it says leads to files below two folders only: the store's own, and the
// one that the user named. Links lead nowhere.
class ArtifactPlaces {
public:
    // `invalid_argument` when a folder is none.
    static Result<ArtifactPlaces> open(const os::Path& own, const std::optional<os::Path>& given);

    // `tails`: where they are below the folder that the user named, if the address does not help.
    [[nodiscard]] Files find(const std::string& address,
                             const std::vector<std::string>& tails) const;

    // Whether the address is one that only its own server, or nobody, understands elsewhere: then
    // files that come here are ours from now on.
    static bool is_local(const std::string& address);

private:
    struct Root {
        os::Path path;       // as it was said
        os::Path canonical;  // without links
        os::Fd fd;
    };
    static Result<Root> open_root(const os::Path& path);
    [[nodiscard]] static std::optional<Files> look(const Root& root, const os::Path& path);

    Root own_;
    std::optional<Root> given_;
};

}  // namespace ponk::importer
