// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

namespace ponk::engine {

// A little disk space put aside, so that the end of a run can be recorded when its log has filled
// the disk. Safe for any thread.
class Reserve {
public:
    explicit Reserve(os::Path file);

    // Puts the space aside when there is room; no room is not an error.
    void fill() const;
    // Gives it back to whoever writes next.
    void release() const;

private:
    os::Path file_;
};

}  // namespace ponk::engine
