// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "config/files/conda.hpp"

#include <string>
#include <vector>

namespace ponk::environment {

// One line of a dependency file that another stood in for. `to` is empty where the line went.
struct Substitution {
    config::Place place;
    std::string from;  // without secrets
    std::string to;
    std::string why;  // "the package 'x' was renamed"
};

// "aml_config/conda_dependencies.yml:7:7: 'tensorflow-gpu==1.4.0' → 'tensorflow[and-cuda]': …"
std::string to_text(const Substitution& substitution, const std::string& file);
Json to_json(const std::vector<Substitution>& substitutions);

// Replaces what died since 2017 and known slips, as far as one right answer exists; only done when
// the user asks. Returns what was replaced, which is shown and recorded with the run. `gpus`:
// whether the target has some; where it has none, gigabytes of CUDA are of no use.
enum class Gpus { none, some };
std::vector<Substitution> substitute(config::CondaEnvironment& environment, Gpus gpus);

}  // namespace ponk::environment
