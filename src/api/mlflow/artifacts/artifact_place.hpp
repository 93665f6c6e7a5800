// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "engine/files/run_files.hpp"
#include "store/tracking/artifact_folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::api::mlflow {

// A place among the artifacts and what it belongs to: "1/<run>/artifacts/…",
// "1/models/<model>/artifacts/…" or "1/traces/<trace>/artifacts/…", the same below a location that
// an experiment has chosen in this store, or of no owner (docs/design/artifacts.md).
struct ArtifactPlace {
    enum class Owner { run, model, trace, nobody } owner = Owner::run;
    std::string id;
    bool deleted = false;
    std::string maker = {};      // the run whose script made it; empty: no run's
    store::ArtifactPath root;    // of the owner's artifacts
    store::ArtifactPath inside;  // below it
    std::string chosen = {};     // the owner's address, where it does not follow from `root`

    [[nodiscard]] store::ArtifactPath full() const { return root / inside; }
    // "mlflow-artifacts:/1/<run>/artifacts"
    [[nodiscard]] std::string root_uri() const;
};

// As the address of the proxy names it. `invalid_argument` for what cannot belong to anything,
// `not_found` for an owner that is not there.
Result<ArtifactPlace> find_place(const Services& services, const store::ArtifactPath& path);
// In a run that is named; `invalid_argument` when its artifacts are not in this store.
Result<ArtifactPlace>
place_in_run(const Services& services, const std::string& run, const store::ArtifactPath& inside);

// Where a location leads ("mlflow-artifacts:/1/models/<model>/artifacts") and `inside` from there;
// `invalid_argument` for one that is not in this store: such a text is never opened.
Result<ArtifactPlace>
place_at(const Services& services, std::string_view location, const store::ArtifactPath& inside);

// What a client may choose as the place of an experiment in this store:
// "mlflow-artifacts:/team/vision".
Result<> check_own_location(std::string_view location);

// What was deleted stays to be read and takes nothing new: `invalid_argument`.
Result<> check_writable(const ArtifactPlace& place);
// Nothing is logged where the outputs of a run of ponk's have their names: `invalid_argument`.
Result<> check_free(const Services& services, const ArtifactPlace& place);

// Sorted; nullopt when there is no such folder.
Result<std::optional<std::vector<store::ArtifactFolder::Entry>>>
list_place(const Services& services, const ArtifactPlace& place);
// `not_found`; `invalid_argument` for a folder.
Result<engine::OpenFile> open_place(const Services& services, const ArtifactPlace& place);
// A file or a tree; absent is fine. What was collected when a run ended stays: `invalid_argument`.
Result<> remove_place(const Services& services, const ArtifactPlace& place);

}  // namespace ponk::api::mlflow
