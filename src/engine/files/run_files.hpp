// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/files/live_files.hpp"
#include "model/run.hpp"
#include "snapshot/manifest.hpp"
#include "store/tracking/artifact_folder.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ponk::engine {

// The files that clients of the tracking API sent, of all runs, models and traces.
store::ArtifactFolder client_files(const Context& context);
// Where those of a run are among them; below it is a folder "artifacts".
store::ArtifactPath client_folder(std::int64_t experiment, const RunId& run);

// A file that is being read, from one place to another, in any order. What is replaced meanwhile is
// read as it was.
struct OpenFile {
    std::uint64_t size = 0;
    std::int64_t changed = 0;  // wall-clock milliseconds; 0: not known
    std::string version;       // differs whenever the bytes may
    std::function<Result<std::string>(std::uint64_t offset, std::size_t length)> read;
};
OpenFile open_stored(store::ArtifactFolder::File file);

class RunFiles;

// What the script of a run logged for a model, a run or a trace that it made: a folder among the
// outputs of its own run. Any thread may call.
class MadeFiles {
public:
    // nullopt when there is no such run. `kind` is one of the folders of child_of.hpp.
    static Result<std::optional<MadeFiles>>
    of(const Context& context, const std::string& maker, const char* kind, const std::string& id);

    using Entry = store::ArtifactFolder::Entry;
    // As of RunFiles.
    [[nodiscard]] Result<std::optional<std::vector<Entry>>>
    list(const store::ArtifactPath& path) const;
    [[nodiscard]] Result<OpenFile> open(const store::ArtifactPath& path) const;
    // Each by its path.
    [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> all() const;

private:
    MadeFiles(std::shared_ptr<const RunFiles> maker, store::ArtifactPath root)
        : maker_(std::move(maker)), root_(std::move(root))
    {
    }

    std::shared_ptr<const RunFiles> maker_;
    store::ArtifactPath root_;  // where they are among the maker's
};

// The files of a run in one tree: what clients logged and what was collected when it ended, or is
// there to be collected while it goes on, named as in its outputs folder; so the script's own
// client called it. Where both have a name the client's counts: a file of theirs also hides what
// was collected below a folder of that name, a folder of theirs what was a file. What was collected
// is found below "outputs", too, where nothing else has that name. Of a run that the script of
// another one made, the files that this one collected for it count as logged. Any thread may call.
class RunFiles {
public:
    // A list of outputs that is damaged is no hindrance: see `problem`.
    static Result<RunFiles> of(const Context& context, const model::Run& run);

    using Entry = store::ArtifactFolder::Entry;
    // Sorted by bytes, without names that no client could ask for; nullopt when there is no such
    // folder.
    [[nodiscard]] Result<std::optional<std::vector<Entry>>>
    list(const store::ArtifactPath& path) const;
    // `not_found`; `invalid_argument` for a folder; damage is reported when it is read.
    [[nodiscard]] Result<OpenFile> open(const store::ArtifactPath& path) const;
    // By the name that list_artifacts has for it, in which what was collected is below "outputs".
    [[nodiscard]] Result<OpenFile> open_listed(const store::ArtifactPath& path) const;
    // Every file that clients logged, by its path.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::uint64_t>>> logged() const;

    // Set when there are outputs whose list cannot be read.
    [[nodiscard]] const std::optional<Error>& problem() const noexcept { return problem_; }
    // Whether there can be files that no client logged.
    [[nodiscard]] bool has_collected() const noexcept
    {
        return outputs_ || problem_ || made_ || live_;
    }
    // Null when nothing was collected.
    [[nodiscard]] const snapshot::Manifest* outputs() const noexcept { return outputs_.get(); }
    // A collected file by its path among the outputs; a link yields what it points to. Null when
    // there is none.
    [[nodiscard]] const snapshot::ManifestEntry* find_output(const std::string& inside) const;
    [[nodiscard]] OpenFile open_output(const snapshot::ManifestEntry& entry) const;

private:
    friend class MadeFiles;
    RunFiles(const Context& context, const model::Run& run, store::ArtifactPath root);
    static Result<RunFiles> of_itself(const Context& context, const model::Run& run);
    [[nodiscard]] std::optional<std::string> collected_at(const store::ArtifactPath& path) const;
    // What the manifest, or the folder of a run that goes on, has there; nullopt when there is no
    // such folder. Its second name is for paths below which clients logged nothing: whoever walks
    // the tree meets each file once.
    enum class SecondName { counts, no };
    [[nodiscard]] std::optional<std::vector<Entry>> list_outputs(const store::ArtifactPath& path,
                                                                 SecondName second) const;
    [[nodiscard]] LiveFiles::Found find_live(const store::ArtifactPath& path) const;
    [[nodiscard]] Result<OpenFile> open_own(const store::ArtifactPath& path) const;
    [[nodiscard]] Result<std::optional<std::vector<Entry>>>
    list_own(const store::ArtifactPath& path) const;

    store::ArtifactFolder folder_;
    store::ArtifactPath root_;  // of what clients logged
    const snapshot::ObjectStore* objects_;
    std::shared_ptr<const snapshot::Manifest> outputs_;
    std::string outputs_id_;
    std::int64_t ended_;
    std::optional<Error> problem_;
    std::optional<MadeFiles> made_;  // of a run that a script made
    std::optional<LiveFiles> live_;  // of a run that goes on
};

}  // namespace ponk::engine
