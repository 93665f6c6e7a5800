// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/id.hpp"
#include "base/json.hpp"
#include "base/time.hpp"
#include "executor/job/environment_report.hpp"
#include "executor/job/run_directory.hpp"
#include "model/exit_record.hpp"
#include "model/run_spec.hpp"
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

using model::Container;
using model::GpuRequest;
using model::RunSpec;

// Another machine that a run goes to, and how to get there.
struct HostAddress : model::HostSpec {
    std::string agent;  // SSH_AUTH_SOCK of who submitted; empty: none

    [[nodiscard]] bool empty() const noexcept { return address.empty(); }
    static constexpr auto fields()
    {
        return std::tuple_cat(HostSpec::fields(), std::tuple(field("agent", &HostAddress::agent)));
    }
    friend auto operator<=>(const HostAddress&, const HostAddress&) = default;
};

// For an image's registry; empty: what the user's Docker client knows.
struct RegistryLogin {
    std::string username;
    std::string password;
    std::string token;  // an identity token, instead of the password

    [[nodiscard]] bool empty() const noexcept { return username.empty() && token.empty(); }
    static constexpr auto fields()
    {
        return std::tuple(field("username", &RegistryLogin::username),
                          field("password", &RegistryLogin::password),
                          field("token", &RegistryLogin::token));
    }
    friend bool operator==(const RegistryLogin&, const RegistryLogin&) = default;
};

// What a run gets besides its specification. It may hold secrets and is never stored.
struct LaunchContext {
    // Ours, on this machine: log, journals and exit record appear here, whatever the target. For a
    // run on this machine it is the control directory itself.
    RunDirectory directory;
    // The folder that the snapshot was taken from: what the store lost may still be there. May be
    // gone.
    Path source;
    // The user's shell as it was at submit ("K=V"); the specification's variables follow.
    std::vector<std::string> submitter_environment;
    // A pipe from the client's terminal, for an interactive run on this machine; else empty.
    Path input;
    std::string token;  // 128 random bits; proves that a process or container is ours
    mode_t umask = 022;
    model::Variables secrets;  // values by name: those that the specification names
    RegistryLogin login;
    std::string lock;  // text of the lock that an earlier run had: exactly this again; else empty
    // As MLflow's clients see the run. Without an experiment they get nothing.
    model::Tracking tracking;

    // What travels to another machine: not its folders and the submitter's environment. Tracking
    // has a form of its own.
    static constexpr auto fields()
    {
        return std::tuple(field("token", &LaunchContext::token),
                          field("umask", &LaunchContext::umask),
                          field("secrets", &LaunchContext::secrets),
                          field("login", &LaunchContext::login),
                          field("lock", &LaunchContext::lock));
    }
};

// A run as its executor gets it.
struct Job {
    RunSpec spec;
    LaunchContext context;
};

// The script's variables, with the values of secrets.
model::Variables variables_of(const Job& job);
// Where the run's host is; empty for a run of this machine.
HostAddress host_of(const Job& job);

enum class JobPhase {
    queued,    // waits for GPUs; `reason` says for whom
    starting,  // accepted, the script has not begun
    running,
    ended,  // `exit` holds how
    lost,   // over, and nobody knows how; `reason` says why
};

struct JobStatus {
    JobPhase phase = JobPhase::starting;
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

// What a run that has ended left outside of `outputs`.
struct Rest {
    std::string left;  // the files that nothing but its copy has, in words; empty: none
    std::int64_t left_files = 0;
    std::int64_t left_bytes = 0;
    std::optional<Digest> kept;  // those that it shall keep, as a tree with their paths
    std::int64_t kept_files = 0;
    std::int64_t kept_bytes = 0;
    Notices notices;
};

// Which target to look at.
struct FactsRequest {
    HostAddress host;
    std::vector<std::string> submitter_environment;  // "K=V" of who asks
    std::optional<model::SlurmSpec> slurm = {};      // of a cluster: what its runs ask for
};

// Called before outputs are stored, with their folder on this machine, to give other names to files
// and other texts to links. What the files hold may be elsewhere: there they are empty.
using BeforeStoring = std::function<Result<>(const Path& outputs)>;

}  // namespace ponk::executor
