// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/access.hpp"
#include "api/http/services.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::api {

// Why a request may not delete, restore or rename this experiment. Clients that log may do so with
// what clients made; the project of a folder is for those who administer. Nothing: it may.
std::optional<Refusal> find_refusal(const Services& services,
                                    const net::Request& request,
                                    const store::Experiment& experiment);

}  // namespace ponk::api
