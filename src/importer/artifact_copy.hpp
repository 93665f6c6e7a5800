// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "importer/report.hpp"
#include "importer/source.hpp"
#include "store/tracking/artifact_folder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::importer {

// Copies a tree of files into the store of artifacts, a piece at a time. Links are not followed; a
// file that is there already stays: an equal one is the same, another one is a problem. One thread.
class ArtifactCopy {
public:
    enum class Mode { store, look };  // look: only counts

    ArtifactCopy(const store::ArtifactFolder& into,
                 store::ArtifactPath at,
                 Files files,
                 Mode mode,
                 Report& report);

    // Some of the work; false when all is done.
    Result<bool> step();

private:
    struct Level {
        os::Fd folder;
        std::string path;  // below the root of the tree; empty: the root
        std::vector<std::string> files;
        std::vector<std::string> folders;
    };
    struct OpenFile {
        os::Fd fd;
        std::string path;
        std::uint64_t size = 0;
        std::uint64_t at = 0;
        store::ArtifactUpload upload;
    };

    Result<> enter(os::Fd folder, std::string path);
    Result<> begin_file(const Level& level, const std::string& name);
    Result<> go_on();
    [[nodiscard]] Result<bool>
    is_equal(int fd, std::uint64_t size, const store::ArtifactFolder::File& known) const;
    void leave_out(const std::string& path, std::string why);
    [[nodiscard]] std::string shown(const std::string& path) const;

    const store::ArtifactFolder& into_;
    store::ArtifactPath at_;
    Files files_;
    Mode mode_;
    Report& report_;
    bool begun_ = false;
    std::vector<Level> levels_;
    std::optional<OpenFile> open_;
};

}  // namespace ponk::importer
