// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace ponk::api {

// The body of a request with this Content-Encoding: gzip, deflate, identity or nothing. It is
// unpacked piece by piece and refused as soon as it has more than `most` bytes, however much is
// still packed. `invalid_argument` for that, for another encoding and for what cannot be unpacked.
Result<std::string> unpack(std::string_view encoding, std::string_view body, std::size_t most);

}  // namespace ponk::api
