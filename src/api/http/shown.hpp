// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/signed_addresses.hpp"

namespace ponk::api {

// Sets the headers of an answer that a browser shows in a frame or stores: whatever is in it runs
// nothing, and is of an origin of its own.
void mark_shown(const net::Request& request, SignedAddresses::Show show, net::Response& answer);

}  // namespace ponk::api
