// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/work_count.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>

// Ends the process when what was done in its scope took more steps than an input of that size is
// worth: a parser that takes a product of two lengths is found by its first long input, on a
// machine of any speed.
class WorkBound {
public:
    explicit WorkBound(std::size_t bytes, std::size_t steps_per_byte = 64)
        : most_(100'000 + bytes * steps_per_byte)
    {
    }
    ~WorkBound()
    {
        if (count_.steps() <= most_) return;
        std::fprintf(stderr,
                     "%llu steps, and this input is worth %zu\n",
                     static_cast<unsigned long long>(count_.steps()),
                     most_);
        std::abort();
    }
    WorkBound(const WorkBound&) = delete;
    WorkBound& operator=(const WorkBound&) = delete;

private:
    ponk::WorkCount count_;
    std::size_t most_;
};
