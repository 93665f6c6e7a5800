// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/run_directory.hpp"
#include "executor/run_directory/run_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::executor {

// The metric journals of a run directory (docs/design/metric-journal.md): plain files of the folder
// `journal`, and nothing that the script put in the place of one. Bounded in number and in what
// their names are made of, so that a list of them fits into a message. Not shared between threads.
class Journals {
public:
    static constexpr std::size_t most = 10'000;
    // Of one journal; what lies behind it is left alone.
    static constexpr std::uint64_t longest = std::uint64_t{4} << 30;
    // Up to 255 visible ASCII characters that JSON writes as they are.
    static bool is_name(std::string_view name);

    struct File {
        std::string name;
        std::uint64_t size = 0;  // at most `longest`
    };

    // There are none when there is no such folder, or a link has its name.
    static Journals of(const RunDirectory& directory);

    struct Found {
        std::vector<File> files;   // sorted by name, the first of them when there are too many
        std::size_t left_out = 0;  // of those beyond `most`, at least
        std::string cut;           // one that has reached `longest`
    };
    [[nodiscard]] Found look() const;
    [[nodiscard]] std::vector<File> list() const { return look().files; }
    // For reading.
    [[nodiscard]] Result<os::Fd> open(const std::string& name) const;

private:
    explicit Journals(std::optional<RunFolder> folder) : folder_(std::move(folder)) {}
    std::optional<RunFolder> folder_;
};

}  // namespace ponk::executor
