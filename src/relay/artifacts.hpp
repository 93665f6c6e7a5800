// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relay/calls.hpp"
#include "relay/http.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::relay {

// A place of the artifacts that we have, below the run's `outputs/`.
struct ArtifactPlace {
    std::vector<std::string> segments;  // below `outputs/`
    std::size_t root = 0;               // how many of them lead to the root of the run or the model
};

// The run's own files are `outputs/` itself; those of a run that the script made are in `runs/ID`,
// of a model in `models/ID` and of a trace in `traces/ID` below it. nullopt: they are not here.
std::optional<ArtifactPlace> place_of(const TrackedState& state,
                                      const model::Tracking& tracking,
                                      std::span<const std::string> path);

// A file that is sent behind the head of an answer.
struct FileAnswer {
    net::Response head;
    os::Fd file;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

Result<> store_artifact(const model::Tracking& tracking, const ArtifactPlace& place, Body& body);
Result<FileAnswer> open_artifact(const model::Tracking& tracking,
                                 const ArtifactPlace& place,
                                 const std::string& range);
// A folder's files; empty when there is no such folder.
enum class Names { base, from_root };
Result<JsonArray>
list_artifacts(const model::Tracking& tracking, const ArtifactPlace& place, Names names);
Result<> remove_artifact(const model::Tracking& tracking, const ArtifactPlace& place);

}  // namespace ponk::relay
