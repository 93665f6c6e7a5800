// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ponk::mlflow {

// The version of MLflow whose calls we answer, the daemon and relays alike. Clients ask before they
// send spans of traces, which servers take in a binary form from 3.4 on.
inline constexpr const char* spoken_version = "3.3.2";

}  // namespace ponk::mlflow
