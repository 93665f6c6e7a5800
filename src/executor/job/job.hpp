// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/id.hpp"
#include "base/json.hpp"
#include "base/time.hpp"
#include "executor/job/environment_report.hpp"
#include "model/exit_record.hpp"
#include "model/tracking.hpp"
#include "os/file.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ponk::executor {

using os::Path;

// The container that a run asks for, on targets that have an engine.
struct ContainerRequest {
    std::string image;
    // Exactly this image instead ("NAME@sha256:…" or an id), as an earlier run had it; else empty.
    std::string pinned;
    // The project's tree is mounted into the container, else copied in before and out after.
    enum class Tree { mounted, copied } tree = Tree::mounted;
    std::string shm_size;                // "2g"; empty: the engine's default
    std::vector<std::string> arguments;  // words of `docker run`
    std::string registry_username;       // empty: what the user's Docker client knows
    std::string registry_password;
    std::string registry_token;  // an identity token, instead of the password

    [[nodiscard]] bool has_login() const noexcept
    {
        return !registry_username.empty() || !registry_token.empty();
    }
};

// Another machine that a run goes to, on targets that have one.
struct HostAddress {
    std::string address;  // as the user's SSH client knows it
    int port = 0;         // 0: as the user's SSH client says
    std::string user;     // empty: as the user's SSH client says
    std::string scratch;  // a folder there, instead of the user's home; empty: the home
    std::string key;      // the private key that the target's file names; empty: none
    std::string agent;    // SSH_AUTH_SOCK of who submitted; empty: none

    [[nodiscard]] bool empty() const noexcept { return address.empty(); }
    friend auto operator<=>(const HostAddress&, const HostAddress&) = default;
};

// The packages that a run asks for.
struct EnvironmentRequest {
    std::string file;     // the conda file, relative to the tree; empty: none is prepared
    std::string project;  // its id
    std::string target;   // its name
    std::string network;  // of image builds; empty: as the settings say
    // `PrepareEnvironment`: build what is not there, or refuse.
    enum class Missing { build, refuse } missing = Missing::build;
    // Known replacements for packages that died since 2017.
    enum class Substitutions { none, known } substitutions = Substitutions::none;
    std::string lock;  // text of the lock that an earlier run had: exactly this again; else empty
};

// The GPUs that a run asks for.
struct GpuRequest {
    std::string selection;  // "all", "2", "GPU-…,GPU-…"; empty: none, and none is looked for
    // By whom: `usual` is what every run gets, so a machine without GPUs is not an error.
    enum class Origin { usual, asked } origin = Origin::usual;
    // `required`: a run that does not use its GPUs is ended, at once when it is plain that it
    // cannot, else after `grace`.
    enum class Need { wanted, required } need = Need::wanted;
    enum class Busy { wait, refuse } busy = Busy::wait;
    std::chrono::seconds grace{600};

    [[nodiscard]] bool empty() const noexcept { return selection.empty(); }
    // Somebody wants the run to have none: then it sees none either.
    [[nodiscard]] bool hides_all() const noexcept { return empty() && origin == Origin::asked; }
};

// Everything an executor needs to carry out one run. Values only; `environment` may hold secrets
// and is never stored.
struct JobSpec {
    RunId id;
    std::string token;  // 128 random bits; proves that a process or container is ours
    // Ours, on this machine: log, journals and exit record appear here, whatever the target. For a
    // run on this machine it is the control directory itself.
    Path directory;
    Digest snapshot;  // the tree to execute
    // The folder it was taken from: what the store lost of it may still be there. May be gone.
    Path source;
    std::string framework;  // "Python" or "PySpark"
    std::string script;     // relative to the tree
    std::vector<std::string> arguments;
    std::string interpreter;  // `pythonLocation`; empty: the target's own choice
    // The user's shell as it was at submit ("K=V"), then what the configuration sets, then ours.
    std::vector<std::string> submitter_environment;
    std::vector<std::pair<std::string, std::string>> variables;
    std::string shared_directory;  // `nativeSharedDirectory` with the project's folder appended
    HostAddress host;
    ContainerRequest container;
    EnvironmentRequest environment;
    GpuRequest gpu;
    // As MLflow's clients see the run. Without an experiment they get nothing.
    model::Tracking tracking;
    // Folder of the tree with TensorBoard event files, besides `outputs`; empty: none.
    std::string tensorboard;
    std::vector<std::string> spark_options;  // PySpark: words for spark-submit before the script
    // Not empty: these words are executed as they are, instead of framework and script.
    std::vector<std::string> command;
    std::chrono::seconds time_limit{0};  // 0: none
    std::chrono::seconds grace{10};      // between TERM and KILL
    mode_t umask = 022;
};

enum class JobPhase {
    queued,    // waits for GPUs; `reason` says for whom
    starting,  // accepted, the script has not begun
    running,
    ended,    // `exit` holds how
    lost,     // over, and nobody knows how; `reason` says why
    unknown,  // the target cannot be asked now
};

struct JobStatus {
    JobPhase phase = JobPhase::unknown;
    std::uint64_t log_length = 0;      // of our copy
    std::uint64_t journal_length = 0;  // of all metric journals together
    std::int64_t started = 0;          // wall-clock milliseconds, 0 before the script began
    std::optional<model::ExitRecord> exit;
    // Why it is lost; while it is running: what keeps it from ending; after that: what is missing.
    std::string reason;
    std::string gpu;  // its GPUs as docs/design/gpu.md has them, JSON; empty: none were asked for
};

using Progress = std::function<void(const std::string& line)>;
// Sentences for the user that stay with the run.
using Notices = std::vector<std::string>;

// What is ready for the launch.
struct Staged {
    Notices notices;
    std::optional<EnvironmentUsed> environment;  // nullopt when the user's own is used
    std::int64_t prepare_ms = 0;                 // what images and packages took
};

// What came home of a run's `outputs/`.
struct Collected {
    std::optional<Digest> outputs;  // nullopt when the run wrote none
    Notices notices;                // what was left out, by name
};

// Which target to look at.
struct FactsRequest {
    HostAddress host;
    std::vector<std::string> submitter_environment;  // "K=V" of who asks
};

// Called before outputs are stored, with their folder on this machine, to give other names to files
// and other texts to links. What the files hold may be elsewhere: there they are empty.
using BeforeStoring = std::function<Result<>(const Path& outputs)>;

// A target that cannot be reached, which says nothing about its runs.
struct Outage {
    std::int64_t since = 0;  // wall-clock milliseconds
    std::string reason;
};

}  // namespace ponk::executor
