// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "net/message.hpp"

#include <string>

namespace ponk::api {

// Answers a call of MLflow's API that the script of a run made and that the run's relay could not
// answer: `ask` is the record of its journal, the answer the text of the file for the relay
// (docs/design/relay.md). Never empty.
std::string answer_run(const Services& services, const RunId& run, const Json& ask);

// Whether a run's script may do that: look at whatever MLflow's API shows, change what it made.
Result<bool> run_may(const Services& services, const RunId& run, const net::Request& request);

}  // namespace ponk::api
