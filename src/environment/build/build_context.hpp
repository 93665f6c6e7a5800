// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ponk::environment {

using os::Path;

// The files that a build is given, as a tar stream. They are read while it is sent. Owners are
// root, times are zero: the same files give the same bytes.
class BuildContextFiles {
public:
    void add_text(std::string name, std::string bytes);
    void add_file(std::string name, Path file);
    // A tree with its links and modes; what is neither file, folder nor link is left out.
    Result<> add_tree(const std::string& name, const Path& folder);

    // Appends the next piece, or nothing at the end. The object must outlive it.
    [[nodiscard]] std::function<Result<>(std::string& out)> source() const;

private:
    struct Item {
        enum class Kind { text, file, folder, link } kind = Kind::text;
        std::string name;
        std::string text;  // bytes of a text, target of a link
        Path file;
        mode_t mode = 0644;
    };
    std::vector<Item> items_;
};

}  // namespace ponk::environment
