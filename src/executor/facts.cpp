// SPDX-License-Identifier: Apache-2.0
#include "executor/facts.hpp"

#include "base/text.hpp"
#include "dockerapi/endpoint.hpp"
#include "dockerapi/engine.hpp"
#include "gpu/probe/probe.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <filesystem>
#include <sys/utsname.h>

namespace ponk::executor {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t little_space = std::uint64_t{5} << 30;

// Facts as they are found, and remarks about them.
class MachineLook {
public:
    MachineLook(const os::Path& home,
                const std::vector<std::string>& environment,
                std::stop_token stop)
        : home_(home), environment_(environment), stop_(std::move(stop))
    {
    }

    void look_at_machine()
    {
        utsname name{};
        ::uname(&name);
        const auto release = os::read_file("/etc/os-release", 1 << 16).value_or("");
        std::string pretty = name.sysname;
        for (const auto& line : split(release, '\n')) {
            if (line.starts_with("PRETTY_NAME=")) pretty = std::string(trim(line.substr(12)));
        }
        std::erase(pretty, '"');
        facts_.set("system", fmt::format("{}, {} {}", pretty, name.sysname, name.release));
        facts_.set("architecture", name.machine);
        facts_.set("home", home_.native());
        const auto space = os::free_space(home_);
        facts_.set("free_disk", space ? Json(*space) : Json());
        if (space && *space < little_space)
            warn(
                fmt::format("only {} are free at {}", byte_size_text(*space), os::in_quotes(home_)),
                "Free some space there, or write 'scratch: FOLDER' in the target's .compute file, "
                "with a folder on a larger disk.");
    }

    void look_for_python(EngineNeed engine)
    {
        for (const auto* name : {"python3", "python"}) {
            const auto said = run({name, "--version"});
            if (!said) continue;
            facts_.set("python", trim(*said));
            return;
        }
        facts_.set("python", Json());
        if (engine == EngineNeed::none)
            problem("error",
                    "neither 'python3' nor 'python' is found there",
                    "Install Python, or set 'pythonLocation' to its path.");
    }

    void look_for_gpus()
    {
        JsonArray gpus;
        const auto found = ask_driver();
        if (!found) {
            warn(found.error().message(), found.error().hint());
        } else {
            for (const auto& device : found->devices) {
                gpus.emplace_back(
                    JsonObject{{"name", device.name},
                               {"uuid", device.uuid},
                               {"driver", found->driver_version},
                               {"memory", fmt::format("{} MiB", device.memory_total >> 20U)}});
            }
            if (found->problem) warn(found->problem->message(), found->problem->hint());
        }
        facts_.set("gpus", std::move(gpus));
    }

    void look_for_engine(EngineNeed request)
    {
        facts_.set("engine", Json());
        const auto complain = [&](const Error& error) {
            if (request == EngineNeed::required) problem("error", error.message(), error.hint());
        };
        const auto socket = dockerapi::find_socket(environment_);
        if (!socket) return complain(socket.error());
        const auto engine = dockerapi::Engine::connect(*socket, after(20s), stop_);
        if (!engine) {
            // There, but of no use: that is something else than none.
            std::error_code ignored;
            if (std::filesystem::exists(*socket, ignored))
                facts_.set("closed_engine", socket->native());
            return complain(engine.error());
        }
        const auto info = engine->info(after(20s), stop_);
        if (!info) return complain(info.error());
        const auto& version = engine->version();
        facts_.set("engine",
                   JsonObject{{"name", version.podman ? "Podman" : "Docker"},
                              {"version", version.engine},
                              {"api", version.api},
                              {"architecture", version.architecture},
                              {"rootless", info->rootless},
                              {"live_restore", info->live_restore},
                              {"runtimes", JsonArray(info->runtimes.begin(), info->runtimes.end())},
                              {"socket", socket->native()}});
        if (request == EngineNeed::required) judge(version, *info);
    }

    Json take()
    {
        return JsonObject{{"facts", std::move(facts_)}, {"problems", std::move(problems_)}};
    }

private:
    Result<gpu::Inventory> ask_driver()
    {
        auto probe = TRY(gpu::open_probe(
            {.lib = home_ / "lib", .environment = environment_}, after(30s), stop_));
        return probe->inventory(after(15s), stop_);
    }

    void judge(const dockerapi::Version& version, const dockerapi::Info& info)
    {
        if (!info.live_restore && !version.podman)
            warn(
                "runs end when the engine is restarted or upgraded there (live-restore is off)",
                "Write {\"live-restore\": true} in /etc/docker/daemon.json and reload the engine.");
    }

    void problem(const char* severity, const std::string& what, const std::string& hint)
    {
        problems_.emplace_back(JsonObject{{"severity", severity}, {"what", what}, {"hint", hint}});
    }
    void warn(const std::string& what, const std::string& hint) { problem("warning", what, hint); }

    std::optional<std::string> run(const std::vector<std::string>& words)
    {
        if (!os::find_program(words[0], os::variable(environment_, "PATH"))) return std::nullopt;
        const auto done =
            os::run({.argv = words, .env = environment_, .directory = "/"}, after(15s), stop_);
        if (!done || done->exit.status() != 0) return std::nullopt;
        return done->out.empty() ? done->err : done->out;
    }

    const os::Path& home_;
    const std::vector<std::string>& environment_;
    std::stop_token stop_;
    JsonObject facts_;
    JsonArray problems_;
};

}  // namespace

Json machine_facts(const os::Path& home,
                   const std::vector<std::string>& environment,
                   EngineNeed engine,
                   const std::stop_token& stop)
{
    MachineLook look(home, environment, stop);
    look.look_at_machine();
    look.look_for_python(engine);
    look.look_for_gpus();
    look.look_for_engine(engine);
    return look.take();
}

}  // namespace ponk::executor
