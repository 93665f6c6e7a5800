// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"

#include <memory>

namespace ponk::net {

// The answer to a request that asks for a WebSocket (RFC 6455, version 13, no extensions): from
// then on `dialogue` speaks on the connection. A request that asks for none, or in a way that is
// not understood, gets 426 or 400.
Response begin_web_socket(const Request& request, std::unique_ptr<Dialogue> dialogue);

}  // namespace ponk::net
