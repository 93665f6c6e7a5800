// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/run.hpp"
#include "os/file.hpp"

#include <optional>

// The run as its own folder remembers it (docs/design/run-directory.md): what brings history back
// when the database is lost.
namespace ponk::engine {

// Before the launch: `record.json`, whole or not at all. A killed daemon cannot take it away, a
// power cut can: then the script has not begun.
Result<> write_first_note(const os::Path& directory, const model::Run& run);
// Once the script runs: makes it durable.
Result<> keep_first_note(const os::Path& directory);
// After the end, and after later changes of name or tags: `end.json`, whole or not at all. A power
// cut may take it away; then the exit record has the end.
Result<> write_last_note(const os::Path& directory, const model::Run& run);
// The newest of the two that can be read. A run that had not ended when it was written has the
// state that its folder shows: `finalizing` once there is an exit record. nullopt without a note.
std::optional<model::Run> read_note(const os::Path& directory);

}  // namespace ponk::engine
