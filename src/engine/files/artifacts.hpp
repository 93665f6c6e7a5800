// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "engine/files/run_files.hpp"
#include "model/run.hpp"
#include "snapshot/manifest.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What a run left behind, and getting it back.
namespace ponk::engine {

inline constexpr std::string_view log_name = "driver_log";
// The names under which the predecessor offered the log.
bool is_log_artifact(std::string_view path);

struct Artifact {
    std::string path;  // "outputs/model.json", "driver_log"
    std::uint64_t size = 0;
    std::string digest;  // of outputs that are one object
    std::string link;    // of a link to something among the outputs: where it points
    enum class Origin { log, outputs, client } origin = Origin::outputs;
};
struct ArtifactList {
    std::vector<Artifact> artifacts;
    std::vector<Artifact> left_out;  // links that lead out of the outputs
    std::vector<Error> problems;     // what may be missing from the list, and why
};
// The log, what clients logged, what was collected: whatever there is; a part that is damaged hides
// no other. Of two files with one name only the one that a client logged is here.
ArtifactList list_artifacts(const Context& context, const model::Run& run);
// `not_found` with the nearest name, `damaged` when the list is and may have held it. A link yields
// the file that it points to.
Result<Artifact>
find_artifact(const Context& context, const model::Run& run, const std::string& path);
// The same, to be read; the log is not among these and `not_found`.
Result<OpenFile>
open_artifact(const Context& context, const model::Run& run, const std::string& path);

// What it executed; `not_found` says why there is none: it ended early, or came without its files.
Result<Digest> snapshot_of(const model::Run& run);
// Fails for a run that was imported: what its record says of folders and programs is a file's word,
// and nobody here has allowed it.
Result<> require_made_here(const model::Run& run);

struct RestoreReport {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::vector<std::string> notices;
};
// The run's snapshot into a new or empty folder. `umask` is the user's: ours gives nobody else a
// right.
Result<RestoreReport> restore_snapshot(const Context& context,
                                       const model::Run& run,
                                       const Path& destination,
                                       mode_t umask);

struct ReturnReport {
    std::vector<std::string> copied;
    std::vector<std::string> skipped;
    struct Failure {
        std::string path;
        Error error;
    };
    std::vector<Failure> failed;  // what could not be copied, and hindered nothing else
};
enum class Overwrite { no, yes };
// Files that the run wrote or changed in its working copy, into the project. Existing files are
// skipped unless told otherwise; nothing is written through a link. They are the user's own: to be
// written, and with the rights that `umask` leaves, whatever protects the stored ones.
Result<ReturnReport> return_files(const Context& context,
                                  const model::Run& run,
                                  const Path& destination,
                                  Overwrite overwrite,
                                  mode_t umask);

// Removes the run's working copy. History, log and outputs stay. Returns the bytes freed.
Result<std::uint64_t> clean_run(const Context& context, const model::Run& run);

// Gives a file of the run a name and a version, and writes assets/NAME.link into the project.
struct Promoted {
    store::Asset asset;
    Path link;
};
Result<Promoted> promote(const Context& context,
                         const model::Run& run,
                         const std::string& path,
                         const std::string& name);

struct Diagnostics {
    Path path;
    std::vector<std::string> problems;  // what could not be put in; also problems.txt in the zip
};
// A zip for a bug report: record, events, log, project as executed; no secrets.
Result<Diagnostics>
write_diagnostics(const Context& context, const model::Run& run, const Path& destination);

}  // namespace ponk::engine
