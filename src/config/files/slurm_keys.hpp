// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/schema/schema.hpp"
#include "config/text/diagnostic.hpp"
#include "config/text/place.hpp"

#include <string>
#include <vector>

namespace ponk::config {

// What a cluster's scheduler is told about each run of the target.
struct SlurmKeys {
    Located<std::string> partition;
    Located<std::string> account;
    Located<std::string> qos;
    Located<std::string> gres;
    // Of `sbatch`, as words of that command: "--constraint=a100".
    std::vector<Located<std::string>> options;
};

// An option of sbatch, by its long name.
bool is_set_by_ponk(std::string_view name);

// Options of sbatch that ponk sets itself are errors.
void read_slurm_keys(const SectionReader& reader, SlurmKeys& keys, Report& report);

}  // namespace ponk::config
