// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/files/run_files.hpp"
#include "net/message.hpp"

#include <string>

namespace ponk::api::mlflow {

// A file as an answer to GET or HEAD: whole, one range of it (206, 416), or the word that it has
// not changed (304). Browsers are to save it, not to show it: whatever it holds was written by a
// run and must not act in our name.
Result<net::Response>
file_answer(const net::Request& request, engine::OpenFile file, const std::string& name);

}  // namespace ponk::api::mlflow
