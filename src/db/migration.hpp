// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace ponk::db {

class Connection;

// What a database file of ours must look like. The n-th text brings a file of version n-1 to n; a
// text that was released never changes.
struct Schema {
    std::int32_t application_id = 0;
    std::vector<std::string_view> migrations;
};

enum class FileState { created, current, migrated };

// Brings the file to the last version, each step in one transaction. `before` is called once, when
// a file that has data is about to change, and may refuse. Fails without touching the file when it
// belongs to another program (`conflict`) or was made by a newer version (`unavailable`).
Result<FileState> migrate(Connection& connection,
                          const Schema& schema,
                          const std::function<Result<>(int version)>& before);

}  // namespace ponk::db
