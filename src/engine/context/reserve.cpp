// SPDX-License-Identifier: Apache-2.0
#include "engine/context/reserve.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace ponk::engine {

namespace {

constexpr off_t reserved = off_t{1} << 20;

}  // namespace

Reserve::Reserve(os::Path file) : file_(std::move(file)) {}

void Reserve::fill() const
{
    const auto file = os::open_file(file_, O_WRONLY | O_CREAT, 0600);
    if (file && ::fallocate(file->get(), 0, 0, reserved) != 0) release();
}

void Reserve::release() const
{
    [[maybe_unused]] const int done = ::truncate(file_.c_str(), 0);
}

}  // namespace ponk::engine
