// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/rattler.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "environment/tools/embedded_scripts.hpp"
#include "os/file_lock.hpp"

#include <unistd.h>

namespace ponk::environment {

namespace {

// Pinned by content: glibc and musl, both processors.
constexpr const char* rattler_version = "0.28.0";
constexpr const char* rattler_digests[] = {
    "4f4ab1d34d5394e7ce130a86e59009c95ace4f5757d9c3af04de1351bcea47eb",
    "61b24202374188e72130f1b3dc63b455befaafc3e49e5481a38b6a6c8828c1e0",
    "1c566fb1b0fc3d0d892b7ba021d6863aaff1f476c245178a07f560729aa7ecdb",
    "6218478af88d45ac1e08e605ede4f67bbe4ffbbbb40b5e32622a4746f98fe331",
};

Path conda_cache(const Settings& settings)
{
    return settings.home / "tools" / "conda-cache";
}

bool works(const Path& interpreter)
{
    return ::access((interpreter.parent_path().parent_path() / "complete").c_str(), F_OK) == 0 &&
           ::access(interpreter.c_str(), X_OK) == 0;
}

Error not_installed(const Error& error)
{
    return Error(
        ErrorKind::unavailable,
        fmt::format("cannot install py-rattler {}, which installs conda packages: {}",
                    rattler_version,
                    error.message()),
        "Install micromamba or conda and put it on PATH (or set PONK_CONDA to its path). With a "
        "wheel of py-rattler in a folder, PIP_FIND_LINKS and PIP_NO_INDEX=1 work too.");
}

}  // namespace

Result<> BuildContext::run(std::string name,
                           std::vector<std::string> argv,
                           const std::vector<std::string>& variables) const
{
    ToolRun tool{.name = std::move(name),
                 .argv = std::move(argv),
                 .environment = installer_environment(settings),
                 .directory = folder,
                 .held_lock = held_lock};
    tool.environment.insert(tool.environment.end(), variables.begin(), variables.end());
    return run_tool(tool, redactor, progress, deadline, stop);
}

Result<Path> provide_rattler(const Python& carrier, const BuildContext& context)
{
    const auto tools = context.settings.home / "tools";
    const auto folder = tools / fmt::format("rattler-{}", rattler_version);
    const auto interpreter = folder / "bin" / "python";
    if (works(interpreter)) return interpreter;
    TRY(os::make_directories(tools));
    const auto lock = TRY(os::FileLock::take(
        tools / "rattler.lock", os::FileLock::Kind::exclusive, context.deadline, context.stop));
    if (works(interpreter)) return interpreter;
    context.progress(fmt::format("installing py-rattler {} for ponk", rattler_version));
    TRY(os::remove_tree(folder));
    std::string line = fmt::format("py-rattler=={}", rattler_version);
    for (const auto* digest : rattler_digests)
        line += fmt::format(" --hash=sha256:{}", digest);
    const auto requirements = tools / "rattler.txt";
    TRY(os::replace_file(requirements, line + "\n"));
    auto own = context;
    own.folder = tools;
    own.held_lock = lock.fd();
    TRY(own.run("venv", {carrier.program.string(), "-m", "venv", folder.string()})
            .map_error(not_installed));
    TRY(own.run("pip",
                {interpreter.string(),
                 "-m",
                 "pip",
                 "install",
                 "--quiet",
                 "--only-binary",
                 ":all:",
                 "--require-hashes",
                 "--disable-pip-version-check",
                 "-r",
                 requirements.string()})
            .map_error(not_installed));
    TRY(os::replace_file(folder / "complete", ""));
    return interpreter;
}

Result<>
link_conda_packages(const Path& rattler, const CondaRequest& request, const BuildContext& context)
{
    const auto script = context.folder / "link_conda_packages.py";
    const auto plan_file = context.folder / "conda-plan.json";
    const auto texts = [](const std::vector<std::string>& list) {
        return JsonArray(list.begin(), list.end());
    };
    JsonObject plan{{"prefix", request.prefix.string()},
                    {"channels", texts(plain_channels(request.channels))},
                    {"specs", texts(request.specs)},
                    {"platform", request.platform},
                    {"cache", conda_cache(context.settings).string()},
                    {"final_prefix", request.used_at},
                    {"system", request.system}};
    if (request.lock) plan.set("locked", TRY(parse_json(to_text(*request.lock)))["packages"]);
    TRY(os::make_directories(conda_cache(context.settings)));
    TRY(os::replace_file(script, link_conda_packages_script(), 0600, os::Durable::no));
    TRY(os::replace_file(plan_file, to_json(plan), 0600, os::Durable::no));
    auto result =
        context.run("py-rattler", {rattler.string(), script.string(), plan_file.string()});
    ::unlink(plan_file.c_str());  // channels may hold tokens
    ::unlink(script.c_str());
    return result;
}

std::vector<std::string> plain_channels(const std::vector<std::string>& channels)
{
    std::vector<std::string> plain;
    for (const auto& channel : channels) {
        if (channel == "nodefaults") continue;
        if (channel != "defaults") {
            plain.push_back(channel.starts_with('/') ? "file://" + channel : channel);
            continue;
        }
        // "free" holds what was current in 2017.
        for (const auto* part : {"main", "r", "free"})
            plain.push_back(fmt::format("https://repo.anaconda.com/pkgs/{}", part));
    }
    return plain;
}

}  // namespace ponk::environment
