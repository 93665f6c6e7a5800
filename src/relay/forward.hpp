// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relay/http.hpp"

namespace ponk::relay {

// Passes a request on to the daemon's socket and its answer back. The body is `text`, or what
// `body` still has when that is given. Where no daemon can be reached the client is told so, in
// words that do not make it wait for long. True when the connection can go on.
bool forward(
    const std::string& socket, const Head& head, std::string_view text, Body* body, Stream& client);

}  // namespace ponk::relay
