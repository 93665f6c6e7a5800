// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/secrets/run_secrets.hpp"
#include "model/run.hpp"
#include "store/tracking/artifact_folder.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace ponk::engine {

// The folder of a run's working copy from which all is collected.
inline constexpr std::string_view outputs_name = "outputs";

// The outputs of a run that goes on, where they are on this machine: what its script has written
// until now, by its path among the outputs. The script may have put anything there: links, and
// names that reveal a secret, are not among them before they are collected. Any thread may call.
class LiveFiles {
public:
    // nullopt where nothing can be seen: the run has ended, or its files are elsewhere, or which
    // names are secret cannot be known now.
    static std::optional<LiveFiles> of(const Context& context, const model::Run& run);

    using Entry = store::ArtifactFolder::Entry;
    using Found = store::ArtifactFolder::Found;
    // What cannot be looked at is absent.
    [[nodiscard]] Found find(const store::ArtifactPath& path) const;
    // Sorted by bytes; nullopt when there is no such folder.
    [[nodiscard]] std::optional<std::vector<Entry>> list(const store::ArtifactPath& path) const;

private:
    LiveFiles(const Path& directory, RunSecrets secrets)
        : folder_(directory), secrets_(std::move(secrets))
    {
    }
    [[nodiscard]] bool tells_secret(const std::string& text) const;

    store::ArtifactFolder folder_;  // the run's
    RunSecrets secrets_;
};

}  // namespace ponk::engine
