// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ponk {

// Steps that this thread has taken in loops whose length other people's bytes decide: values
// parsed, keys compared, characters matched. Nothing in the product reads it. Tests and fuzz
// targets compare it with the size of the input, which says more than a clock does.
inline constinit thread_local std::uint64_t work_steps = 0;

inline void count_work(std::uint64_t steps = 1) noexcept
{
    work_steps += steps;
}

// The steps of this thread since it was made.
class WorkCount {
public:
    [[nodiscard]] std::uint64_t steps() const noexcept { return work_steps - begin_; }

private:
    std::uint64_t begin_ = work_steps;
};

}  // namespace ponk
