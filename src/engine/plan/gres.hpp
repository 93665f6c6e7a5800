// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run_spec.hpp"

#include <string>

// The words by which Slurm is asked for GPUs: "gpu:a100:2,license:1".
namespace ponk::engine {

// The same with another number of GPUs (0: none of them), of the type that was named.
std::string gres_with_gpus(const std::string& gres, unsigned count);
// So that a job asks for that number, whatever its options said.
void set_gpus(model::SlurmSpec& slurm, unsigned count);

// How many GPUs a job asks for, by `gres` or by options of sbatch; 0: none. A share of one counts
// as one, and so does what cannot be read as a number.
unsigned gpus_of(const model::SlurmSpec& slurm);

}  // namespace ponk::engine
