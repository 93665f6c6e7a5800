// SPDX-License-Identifier: Apache-2.0
#include "os/disk_use.hpp"

#include "os/directory.hpp"
#include "os/fd.hpp"
#include "os/tree.hpp"

#include <fcntl.h>
#include <set>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace ponk::os {

DiskUse disk_use(const Path& folder)
{
    DiskUse use;
    const Fd root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root) return use;
    std::set<std::pair<dev_t, ino_t>> linked;
    std::vector<std::string> waiting{""};
    while (!waiting.empty()) {
        const auto path = std::move(waiting.back());
        waiting.pop_back();
        const Fd fd(open_folder_beneath(root.get(), path));
        if (!fd) continue;
        const auto entries = list_directory(fd.get());
        if (!entries) continue;
        for (const auto& entry : *entries) {
            struct stat info {};
            if (::fstatat(fd.get(), entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
            const bool is_folder = S_ISDIR(info.st_mode);
            if (!is_folder) ++use.files;
            if (is_folder || info.st_nlink < 2 || linked.emplace(info.st_dev, info.st_ino).second)
                use.bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
            if (is_folder) waiting.push_back(path.empty() ? entry.name : path + "/" + entry.name);
        }
    }
    return use;
}

}  // namespace ponk::os
