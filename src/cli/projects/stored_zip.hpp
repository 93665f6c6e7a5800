// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// A file of a zip archive in memory.
struct ZipEntry {
    std::string name;
    std::string_view bytes;  // within the archive
    bool executable = false;
};

// All files of an archive whose members are stored, not compressed: what tools/pack_samples.py
// makes. Names that would leave a folder are refused.
Result<std::vector<ZipEntry>> read_stored_zip(std::string_view archive);

}  // namespace ponk::cli
