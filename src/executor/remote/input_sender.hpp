// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "executor/remote/link/agent_connection.hpp"
#include "snapshot/object_store.hpp"

namespace ponk::executor::remote {

// Brings to a host what an answer of it says is missing of the job's inputs: the list of an input's
// files, or pieces of them, straight from the folder that the user named. `conflict` when that is
// not any more what it was when the run was prepared.
Result<> send_input(AgentConnection& connection,
                    const snapshot::ObjectStore& objects,
                    const Job& job,
                    const AgentConnection::Answer& answer,
                    const Progress& progress,
                    const std::stop_token& stop);

}  // namespace ponk::executor::remote
