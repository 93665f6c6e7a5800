// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <string>

namespace ponk::executor {

using os::Path;

// A folder of a run directory, opened without following a link anywhere below that directory: the
// script may have put anything in the place of anything there, and from a container its links lead
// to places that it cannot reach itself. Rights that the script took from us are given back on the
// way. Not shared between threads.
class RunFolder {
public:
    // `relative` is "work/outputs" or the like. `not_found` when a part of it is not there;
    // `conflict` when one is a link or no folder.
    static Result<RunFolder> open(const Path& directory, const Path& relative);

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    // Leads to this very folder while the object lives, whatever becomes of its name.
    [[nodiscard]] Path path() const;
    // An error of somebody who was given `path`, with the name that people know.
    [[nodiscard]] Error in_words(const Error& error) const;

private:
    RunFolder(os::Fd fd, Path name) : fd_(std::move(fd)), name_(std::move(name)) {}
    os::Fd fd_;
    Path name_;
};

}  // namespace ponk::executor
