// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "secrets/secrets.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// The file of one secret; docs/design/secrets.md describes it.
namespace ponk::secrets {

struct Version {
    std::int64_t number = 0;
    Place where = Place::file;
    bool retired = false;      // only for hiding it in logs
    std::int64_t updated = 0;  // wall-clock milliseconds
    std::string key;           // which key sealed it; in the keyring: the item's id
    std::string sealed;        // bytes; empty in the keyring
};

struct SealedFile {
    std::string name;
    std::vector<Version> versions;  // oldest first; at most one, the last, is not retired

    [[nodiscard]] const Version* current() const;
};

// Bytes of a file, any bytes: `damaged` unless they are exactly what was written.
Result<SealedFile> parse_sealed_file(std::string_view bytes);
std::string to_text(const SealedFile& file);

}  // namespace ponk::secrets
