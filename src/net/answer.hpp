// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"

#include <string>

// Inside net/ only.
namespace ponk::net {

// How the end of an answer's body is told.
enum class Framing { none, length, chunks, closing };

// Everything before the body. `size` counts with Framing::length.
std::string head_of(const Response& response, Framing framing, std::uint64_t size, bool keep_alive);

}  // namespace ponk::net
