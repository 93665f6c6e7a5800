// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::snapshot {

// What the rules kept out of a snapshot. A folder counts as one, whatever is in it.
struct LeftOut {
    std::uint64_t files = 0;
    std::uint64_t folders = 0;
    std::vector<std::string> names;  // some of them, folders with a slash at the end

    [[nodiscard]] bool any() const noexcept { return files + folders > 0; }
    // Not the whole of it: it has another way into the run.
    void forget(const std::string& path);
    // "left out: .venv/, data/, .env and 12 files"
    [[nodiscard]] std::string summary() const;
};

// The same of one folder, as it is cached.
struct LeftOutNames {
    std::uint32_t files = 0;
    std::uint32_t folders = 0;
    std::string text;  // some names, each with 'd' or 'f' before it and a slash behind it

    void add(std::string_view name, bool is_folder);
    void add_to(LeftOut& all, std::string_view folder) const;
};

}  // namespace ponk::snapshot
