// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/fd.hpp"
#include "relay/forwarded_requests.hpp"
#include "relay/recorder.hpp"

namespace ponk::relay {

// Answers what comes over one connection until the client closes it. What the run itself does not
// know goes on to the daemon.
void serve(os::Fd socket, Recorder& recorder, ForwardedRequests& asks);

}  // namespace ponk::relay
