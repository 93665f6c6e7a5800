// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/fields.hpp"
#include "base/hash.hpp"
#include "base/id.hpp"
#include "base/json.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a run is: resolved once, by the daemon; stored with the run, so that a rerun is exact; sent
// to the machine that executes it. Secrets are in it by name only. docs/design/run-spec.md.
namespace ponk::model {

using Variables = std::vector<std::pair<std::string, std::string>>;

// A script with this ending is executed by python/ponk_notebook.
constexpr std::string_view notebook_extension = ".ipynb";

// What is executed.
struct Program {
    std::string framework;  // "Python" or "PySpark"
    std::string script;     // relative to the tree; of a module or a command: its name
    std::string module;     // as after 'python -m', instead of the script
    std::string folder;     // in which it starts, relative to the tree; empty: the tree itself
    std::vector<std::string> arguments;
    // Not empty: these words are executed as they are, instead of framework and script.
    std::vector<std::string> command;
    std::string interpreter;                   // `pythonLocation`; empty: the location's own choice
    std::vector<std::string> spark_options;    // words for spark-submit before the script
    Variables variables;                       // values may be "secret:NAME"
    std::vector<std::string> shell_variables;  // of the submitter's shell, that a container gets
    // Folder of the tree with TensorBoard event files, besides `outputs`; empty: none.
    std::string tensorboard;
    // Modules ("os", "sys") that the script uses without importing them, and gets.
    std::vector<std::string> given_names;
    bool interactive = false;  // its standard input is the terminal of who submitted it

    static constexpr auto fields()
    {
        return std::tuple(field("framework", &Program::framework),
                          field("script", &Program::script),
                          field("module", &Program::module),
                          field("folder", &Program::folder),
                          field("arguments", &Program::arguments),
                          field("command", &Program::command),
                          field("interpreter", &Program::interpreter),
                          field("spark_options", &Program::spark_options),
                          field("variables", &Program::variables),
                          field("shell_variables", &Program::shell_variables),
                          field("tensorboard", &Program::tensorboard),
                          field("given_names", &Program::given_names),
                          field("interactive", &Program::interactive));
    }
    friend bool operator==(const Program&, const Program&) = default;
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

    static constexpr auto fields()
    {
        return std::tuple(field("gpus", &GpuRequest::selection),
                          field("origin", &GpuRequest::origin),
                          field("need", &GpuRequest::need),
                          field("busy", &GpuRequest::busy),
                          field("grace_seconds", &GpuRequest::grace));
    }
    friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};
constexpr std::array<std::string_view, 2> names_of(GpuRequest::Origin)
{
    return {"usual", "asked"};
}
constexpr std::array<std::string_view, 2> names_of(GpuRequest::Need)
{
    return {"wanted", "required"};
}
constexpr std::array<std::string_view, 2> names_of(GpuRequest::Busy)
{
    return {"wait", "refuse"};
}

// What it needs of a machine.
struct Resources {
    GpuRequest gpu;
    std::chrono::seconds time_limit{0};  // 0: none

    static constexpr auto fields()
    {
        return std::tuple(field("gpu", &Resources::gpu),
                          field("time_limit_seconds", &Resources::time_limit));
    }
    friend bool operator==(const Resources&, const Resources&) = default;
};

// Another machine, as the target's file names it.
struct HostSpec {
    std::string address;      // as the user's SSH client knows it
    int port = 0;             // 0: as the user's SSH client says
    std::string user;         // empty: as the user's SSH client says
    std::string scratch;      // a folder there, instead of the user's home
    std::string private_key;  // that the target's file names; empty: none

    static constexpr auto fields()
    {
        return std::tuple(field("address", &HostSpec::address),
                          field("port", &HostSpec::port),
                          field("user", &HostSpec::user),
                          field("scratch", &HostSpec::scratch),
                          field("private_key", &HostSpec::private_key));
    }
    friend auto operator<=>(const HostSpec&, const HostSpec&) = default;
};

// A cluster whose scheduler starts the run, and what it is told.
struct SlurmSpec {
    std::string partition;  // empty, like the others: the site's default
    std::string account;
    std::string qos;
    std::string gres;                  // the GPUs, in the words of sbatch; empty: none
    std::vector<std::string> options;  // more words of sbatch: "--constraint=a100"

    static constexpr auto fields()
    {
        return std::tuple(field("partition", &SlurmSpec::partition),
                          field("account", &SlurmSpec::account),
                          field("qos", &SlurmSpec::qos),
                          field("gres", &SlurmSpec::gres),
                          field("options", &SlurmSpec::options));
    }
    friend bool operator==(const SlurmSpec&, const SlurmSpec&) = default;
};

// Where it is executed.
struct Location {
    enum class Kind { here, host } kind = Kind::here;
    std::string target;  // the name of the compute target
    HostSpec host;       // of a host
    // Then `here` or the host is where jobs are submitted to Slurm: the login node.
    std::optional<SlurmSpec> slurm;

    static constexpr auto fields()
    {
        return std::tuple(field("kind", &Location::kind),
                          field("target", &Location::target),
                          field("host", &Location::host),
                          field("slurm", &Location::slurm));
    }
    friend bool operator==(const Location&, const Location&) = default;
};
constexpr std::array<std::string_view, 2> names_of(Location::Kind)
{
    return {"here", "host"};
}

struct Container {
    std::string image;
    // Exactly this image instead ("NAME@sha256:…" or an id), as an earlier run had it; else empty.
    std::string pinned;
    // The project's tree is mounted into the container, else copied in before and out after.
    enum class Tree { mounted, copied } tree = Tree::mounted;
    std::string build_network;           // of image builds; empty: as the settings say
    std::string shm_size;                // "2g"; empty: the engine's default
    std::vector<std::string> arguments;  // words of `docker run`
    std::string registry_username;       // empty: what the user's Docker client knows
    std::string registry_password;       // "secret:NAME"

    static constexpr auto fields()
    {
        return std::tuple(field("image", &Container::image),
                          field("pinned", &Container::pinned),
                          field("tree", &Container::tree),
                          field("build_network", &Container::build_network),
                          field("shm_size", &Container::shm_size),
                          field("arguments", &Container::arguments),
                          field("registry_username", &Container::registry_username),
                          field("registry_password", &Container::registry_password));
    }
    friend bool operator==(const Container&, const Container&) = default;
};
constexpr std::array<std::string_view, 2> names_of(Container::Tree)
{
    return {"mounted", "copied"};
}

// How it is executed: as a process of its user, or in a container.
struct Runtime {
    std::optional<Container> container;
    std::string shared_directory;  // `nativeSharedDirectory` with the project's folder appended
    // As the target's file has it, where that is not the usual one: its user has allowed it.
    std::string named_shared_directory;

    static constexpr auto fields()
    {
        return std::tuple(field("container", &Runtime::container),
                          field("shared_directory", &Runtime::shared_directory),
                          field("named_shared_directory", &Runtime::named_shared_directory));
    }
    friend bool operator==(const Runtime&, const Runtime&) = default;
};

// The packages that it needs.
struct EnvironmentSpec {
    // The file that names the packages, relative to the tree; empty: none is prepared.
    std::string file;
    std::string choice;         // why these packages, for people
    std::string prefix;         // of the user's own environment on this machine: '.venv'
    std::string import_folder;  // of the project's own modules, relative to the tree
    // `PrepareEnvironment`: build what is not there, or refuse.
    enum class Missing { build, refuse } missing = Missing::build;
    // Known replacements for packages that died since 2017.
    enum class Substitutions { none, known } substitutions = Substitutions::none;
    std::string lock_digest;  // of the lock that an earlier run had: exactly that environment

    static constexpr auto fields()
    {
        return std::tuple(field("file", &EnvironmentSpec::file),
                          field("choice", &EnvironmentSpec::choice),
                          field("prefix", &EnvironmentSpec::prefix),
                          field("import_folder", &EnvironmentSpec::import_folder),
                          field("missing", &EnvironmentSpec::missing),
                          field("substitutions", &EnvironmentSpec::substitutions),
                          field("lock_digest", &EnvironmentSpec::lock_digest));
    }
    friend bool operator==(const EnvironmentSpec&, const EnvironmentSpec&) = default;
};
constexpr std::array<std::string_view, 2> names_of(EnvironmentSpec::Missing)
{
    return {"build", "refuse"};
}
constexpr std::array<std::string_view, 2> names_of(EnvironmentSpec::Substitutions)
{
    return {"none", "known"};
}

// Data that is not part of the snapshot: linked or mounted at its place in the run's copy.
struct Input {
    std::string path;    // in the run's copy of the project
    std::string source;  // on the machine that submitted it
    bool with_digest = false;
    // What it was when the run was prepared.
    std::int64_t files = 0;
    std::int64_t bytes = 0;
    std::int64_t newest = 0;  // the last change of a file in it, in milliseconds
    std::string digest;       // of names and contents, where that was asked for
    // For another machine: digest of the manifest of what it has, and "/NAME" when it is one file.
    std::string tree;

    static constexpr auto fields()
    {
        return std::tuple(field("path", &Input::path),
                          field("source", &Input::source),
                          field("with_digest", &Input::with_digest),
                          field("files", &Input::files),
                          field("bytes", &Input::bytes),
                          field("newest", &Input::newest),
                          field("digest", &Input::digest),
                          field("tree", &Input::tree));
    }
    friend bool operator==(const Input&, const Input&) = default;
};

// The manifest that `tree` names; nullopt: it has none.
std::optional<Digest> manifest_of(const Input& input);
// The input's name in that tree; empty: it is all of it.
std::string file_of(const Input& input);

// What ponk does with it.
struct Policy {
    enum class Purpose { run, prepare } purpose = Purpose::run;
    bool tracked = true;
    bool collect_outputs = true;
    bool may_promote = false;        // its script may move aliases of models
    std::chrono::seconds grace{10};  // between SIGTERM and SIGKILL, at its time limit or a cancel
    // New files that match one of these lines, as .gitignore has them, are collected with outputs.
    std::vector<std::string> keep = {};

    static constexpr auto fields()
    {
        return std::tuple(field("purpose", &Policy::purpose),
                          field("tracked", &Policy::tracked),
                          field("collect_outputs", &Policy::collect_outputs),
                          field("may_promote", &Policy::may_promote),
                          field("grace_seconds", &Policy::grace),
                          field("keep", &Policy::keep));
    }
    friend bool operator==(const Policy&, const Policy&) = default;
};
constexpr std::array<std::string_view, 2> names_of(Policy::Purpose)
{
    return {"run", "prepare"};
}

struct RunSpec {
    RunId id;
    std::string name;
    std::string project;  // its id
    std::string run_configuration;
    Digest snapshot;  // the tree to execute; zeros until it is taken
    Program program;
    Resources resources;
    Location location;
    Runtime runtime;
    EnvironmentSpec environment;
    std::vector<Input> inputs;
    Policy policy;

    static constexpr auto fields()
    {
        return std::tuple(field("id", &RunSpec::id),
                          field("name", &RunSpec::name),
                          field("project", &RunSpec::project),
                          field("run_configuration", &RunSpec::run_configuration),
                          field("snapshot", &RunSpec::snapshot),
                          field("program", &RunSpec::program),
                          field("resources", &RunSpec::resources),
                          field("location", &RunSpec::location),
                          field("runtime", &RunSpec::runtime),
                          field("environment", &RunSpec::environment),
                          field("inputs", &RunSpec::inputs),
                          field("policy", &RunSpec::policy));
    }
    friend bool operator==(const RunSpec&, const RunSpec&) = default;
};

// The script as it is named where it starts; a name that begins with a dash must not look like an
// option.
std::string script_as_started(const Program& program);

// What replaces a script in the record of a preparation.
inline constexpr const char* preparation_name = "(prepare)";

Json to_json(const RunSpec& spec);
// `damaged` when it is not one. Reads what the first version stored, too.
Result<RunSpec> parse_run_spec(const Json& json);

Json to_json(const GpuRequest& request);
Result<GpuRequest> parse_gpu_request(const Json& json);
// The request inside a stored spec, without reading the rest of it.
GpuRequest stored_gpu_request(const Json& spec);
bool may_promote(const Json& spec);
std::chrono::seconds grace_of(const Json& spec);

// The type of its target, as files of targets name it: "local", "remotedocker", "slurm" …
std::string target_type(const RunSpec& spec);
// The name of the executor that serves it: the type, but for a cluster whose login node is this
// machine.
std::string executor_name(const Location& location, const std::string& type);
inline constexpr std::string_view slurm_here = "slurm here";
bool is_preparation(const RunSpec& spec);

// "secret:NAME" → NAME; nullopt for any other value.
std::optional<std::string> secret_reference(std::string_view value);
std::vector<std::string> secret_names(const RunSpec& spec);

}  // namespace ponk::model
