// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>
#include <vector>

namespace ponk::os {

// Opens `relative` below the folder `root`, refusing whatever would leave it: "..", absolute paths
// and symbolic links anywhere on the way. The kernel checks (openat2), not string inspection; on
// kernels without it the components are walked one by one.
Result<Fd> open_beneath(int root, const Path& relative, int flags, mode_t mode = 0600);

// The same walk done without openat2. Offered for tests, which hold both to one contract.
Result<Fd> open_beneath_by_steps(int root, const Path& relative, int flags, mode_t mode = 0600);

// Opens `path` as a process would whose root is the folder `root`: links are followed, and neither
// they nor ".." lead out of it. On kernels without openat2 a path with links is refused.
Result<Fd> open_in_root(int root, const Path& path, int flags);
// What it holds, when it is a plain file: nothing else is opened. As `read_file`.
Result<std::string> read_in_root(int root, const Path& path, std::uint64_t limit);

struct Entry {
    std::string name;
    unsigned char type = 0;  // DT_REG, DT_DIR, DT_LNK…; never DT_UNKNOWN
};

// Names in a folder, sorted by bytes, without "." and "..".
Result<std::vector<Entry>> list_directory(int folder);
Result<std::vector<Entry>> list_directory(const Path& folder);

}  // namespace ponk::os
