// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/native/handlers.hpp"

#include <cstdint>
#include <memory>

namespace ponk::api {

// What is in a run's log now from an offset on, as it is served: with the run's secrets masked.
Result<std::unique_ptr<net::BodySource>>
log_bytes(const Services& services, const RunId& id, std::uint64_t offset);

}  // namespace ponk::api
