// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "target/run_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::target {

// The metric journals of a run directory (docs/design/metric-journal.md): plain files of the folder
// `journal`, and nothing that the script put in the place of one. Not shared between threads.
class Journals {
public:
    struct File {
        std::string name;
        std::uint64_t size = 0;
    };

    // There are none when there is no such folder, or a link has its name.
    static Journals of(const Path& directory);

    // Sorted by name.
    [[nodiscard]] std::vector<File> list() const;
    // For reading.
    [[nodiscard]] Result<os::Fd> open(const std::string& name) const;

private:
    explicit Journals(std::optional<RunFolder> folder) : folder_(std::move(folder)) {}
    std::optional<RunFolder> folder_;
};

}  // namespace ponk::target
