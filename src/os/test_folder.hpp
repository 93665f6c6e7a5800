// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <unistd.h>

namespace ponk::os {

// A private folder for one test, removed with all it holds. In memory where that is possible: what
// is tested there does not depend on a disk, and would spend its time waiting for one.
class TestFolder {
public:
    TestFolder()
        : path_(make_temporary_directory(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                                         "ponk-test-")
                    .value())
    {
    }
    ~TestFolder() { (void)remove_tree(path_); }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    [[nodiscard]] const Path& path() const noexcept { return path_; }

private:
    Path path_;
};

}  // namespace ponk::os
