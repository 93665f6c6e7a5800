// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "os/file.hpp"

#include <string>
#include <vector>

namespace ponk::cli {

// A project template, as samples/index.json lists it. Several names may share a folder.
struct Sample {
    std::string name;
    std::string id;  // the folder's name
    std::string script;
    std::string summary;
    std::string substitution;  // what differs from the sample of 2017 by that name, or empty
    os::Path folder;
};

// $PONK_SAMPLES, else share/ponk/samples beside the program's bin/, else samples/ of the source tree
// that the program was built in.
Result<std::vector<Sample>> list_samples();
// By name or folder, whatever the case; else `not_found` with the nearest.
Result<Sample> find_sample(const std::string& name);

}  // namespace ponk::cli
