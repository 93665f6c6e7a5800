// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::net {

struct Target {
    std::string authority;          // the host, where the target names it as proxies are asked
    std::vector<std::string> path;  // decoded segments
    std::vector<std::pair<std::string, std::string>> query;
};

// Splits a request target ("/a/b%20c?x=1", also behind "http://host"), decoding each segment once.
// Refuses what could confuse a later reader: empty, "." and ".." segments, NUL, a slash or a
// backslash hidden in a segment, and text that is still percent-encoded after one decoding.
Result<Target> parse_target(std::string_view text);
// For the client: encodes one segment or query value.
std::string percent_encode(std::string_view text);

}  // namespace ponk::net
