// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "os/file.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// A project template, as samples/index.json lists it. Several names may share a folder.
struct Sample {
    std::string name;
    std::string folder;
    std::string script;
    std::string summary;
    std::string substitution;  // what differs from the sample of 2017 by that name, or empty
};

// The samples in the folder $PONK_SAMPLES, else those in `archive` (which the program carries).
class Gallery {
public:
    static Result<Gallery> open(std::string_view archive);

    [[nodiscard]] const std::vector<Sample>& samples() const noexcept { return samples_; }
    // By name or folder, whatever the case; else `not_found` with the nearest.
    [[nodiscard]] Result<Sample> find(const std::string& name) const;
    // Writes the sample's files into the existing folder `to`.
    [[nodiscard]] Result<> copy(const Sample& sample, const os::Path& to) const;

private:
    os::Path folder_;  // empty: the archive
    std::string_view archive_;
    std::vector<Sample> samples_;
};

}  // namespace ponk::cli
