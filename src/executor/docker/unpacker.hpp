// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/tar.hpp"
#include "os/directory.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::executor::docker {

using os::Path;

// Unpacks below one folder and nowhere else: the names come out of the container. Not shared
// between threads.
class Unpacker {
public:
    explicit Unpacker(os::Fd root) : root_(std::move(root)) {}

    Result<> begin(const dockerapi::TarEntry& entry);
    Result<> data(std::string_view bytes);

    // "'outputs/x' is …": what could not be taken. Of `there`, which are all paths that the archive
    // should have had, those that it did not even name are sockets: an archive has no word for one.
    [[nodiscard]] std::vector<std::string> left_out(const std::vector<std::string>& there) const;

private:
    Result<> take_other(const dockerapi::TarEntry& entry, const Path& path);
    Result<> make_folder(const Path& path);
    [[nodiscard]] Result<os::Fd> parent_of(const Path& path) const;

    os::Fd root_;
    os::Fd file_;
    std::set<std::string> others_;  // that are not files, folders or links
};

}  // namespace ponk::executor::docker
