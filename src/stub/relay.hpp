// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stub/job.hpp"

// The relay of a run, docs/design/relay.md: a program that answers MLflow's clients on the run's
// own loopback. We only hold its listener open; a run that never connects pays nothing.
namespace ponk::stub {

// Listens on a port of 127.0.0.1 and tells the script which. Returns the descriptor, or -1: then
// the script is told nothing of MLflow.
int open_relay(Job& job);

// The process becomes the relay. The run directory is the current folder.
[[noreturn]] void become_relay(const char* program, int listener);

}  // namespace ponk::stub
