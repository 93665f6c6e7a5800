// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ponk::mlflow {

// The version of MLflow whose calls we answer. Clients ask before they send spans of traces, which
// servers take in from 3.4 on. Relays do not: in a run spans are a file, which needs no daemon.
inline constexpr const char* spoken_version = "3.4.0";
inline constexpr const char* relay_version = "3.3.2";

}  // namespace ponk::mlflow
