// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "executor/slurm/slurm_client.hpp"
#include "model/run_spec.hpp"

#include <stop_token>

namespace ponk::executor::slurm {

// Adds to `facts` what the cluster is and has (docs/design/slurm.md, "A check"), and to `problems`
// what keeps runs from it. A job of a second tells whether the nodes see `home`.
void add_cluster_facts(const Result<Installation>& where,
                       const model::SlurmSpec& request,
                       const Path& home,
                       Json& answer,
                       const std::stop_token& stop);

// The lines of `sinfo -h -o "%P|%a|%l|%D|%c|%m|%G"`: one object per partition.
JsonArray parse_partitions(std::string_view text);

}  // namespace ponk::executor::slurm
