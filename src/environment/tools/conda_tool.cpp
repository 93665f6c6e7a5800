// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/conda_tool.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <unistd.h>

namespace ponk::environment {

namespace {

// YAML and TOML both read JSON's quoted text.
std::string json_word(const std::string& text)
{
    return to_json(Json(text));
}

// pixi keeps a workspace, whose environment has a place of its own; what is asked for at `prefix`
// is a link to it.
Result<> create_by_pixi(const CondaTool& tool,
                        const EnvironmentSpec& spec,
                        const Path& prefix,
                        const BuildContext& context)
{
    const auto workspace = context.folder / "workspace";
    const auto manifest = workspace / "pixi.toml";
    TRY(os::make_directories(workspace));
    TRY(os::replace_file(
        manifest, TRY(pixi_manifest(spec.packages, spec.platform)), 0600, os::Durable::no));
    TRY(context.run("pixi",
                    {tool.program.string(), "install", "--manifest-path", manifest.string()}));
    const auto made = workspace / ".pixi" / "envs" / "default";
    if (::symlink(made.c_str(), prefix.c_str()) != 0)
        return fail_errno(errno, "link {}", os::in_quotes(prefix));
    return {};
}

}  // namespace

std::string conda_file(const PackageRequest& packages)
{
    std::string text = "channels:\n";
    for (const auto& channel : packages.channels)
        text += "  - " + json_word(channel) + "\n";
    text += "  - nodefaults\ndependencies:\n";
    for (const auto& spec : conda_specs(packages))
        text += "  - " + json_word(spec) + "\n";
    return text;
}

Result<std::string> pixi_manifest(const PackageRequest& packages, const std::string& platform)
{
    std::vector<std::string> channels;
    for (const auto& channel : plain_channels(packages.channels))
        channels.push_back(json_word(channel));
    std::string text = fmt::format("[workspace]\nname = \"environment\"\nchannels = [{}]\n"
                                   "platforms = [{}]\n\n[dependencies]\n",
                                   join(channels, ", "),
                                   json_word(platform));
    for (const auto& spec : conda_specs(packages)) {
        const auto channel = spec.find("::");
        const auto start = channel == std::string::npos ? 0 : channel + 2;
        const auto end = std::min(spec.find_first_of("=<>!~ [", start), spec.size());
        auto version = std::string(trim(std::string_view(spec).substr(end)));
        if (version.find('[') != std::string::npos ||
            version.find('=', version.find_first_not_of("=<>!~")) != std::string::npos) {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("'{}' names a build, which pixi does not support", spec),
                      "Write only the version, or put micromamba or conda on PATH."));
        }
        // "=3.5.2" means the version and everything below it.
        if (version.starts_with('=') && !version.starts_with("=="))
            version = version.substr(1) + ".*";
        if (version.empty()) version = "*";
        const auto name = json_word(spec.substr(start, end - start));
        text += start == 0 ? fmt::format("{} = {}\n", name, json_word(version))
                           : fmt::format("{} = {{ version = {}, channel = {} }}\n",
                                         name,
                                         json_word(version),
                                         json_word(spec.substr(0, channel)));
    }
    return text;
}

Result<> create_by_conda_tool(const CondaTool& tool,
                              const EnvironmentSpec& spec,
                              const std::optional<Lock>& lock,
                              const Path& prefix,
                              const BuildContext& context)
{
    if (tool.builder == Builder::pixi && lock) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  "pixi cannot build from a lock of ponk",
                  "Put micromamba or conda on PATH, or set PONK_CONDA to its path."));
    }
    if (tool.builder == Builder::pixi) return create_by_pixi(tool, spec, prefix, context);
    const auto program = tool.program.string();
    const auto name = to_string(tool.builder);
    const auto file = context.folder / (lock ? "explicit.txt" : "environment.yml");
    const auto text =
        lock ? TRY(explicit_list(*lock, spec.packages.channels)) : conda_file(spec.packages);
    TRY(os::replace_file(file, text, 0600, os::Durable::no));
    std::vector<std::string> argv{program};
    if (lock || tool.builder == Builder::micromamba)
        argv.insert(argv.end(), {"create", "--yes"});
    else
        argv.insert(argv.end(), {"env", "create"});
    argv.insert(argv.end(), {"--prefix", prefix.string(), "--file", file.string()});
    const auto done = context.run(name, std::move(argv));
    ::unlink(file.c_str());
    return done;
}

}  // namespace ponk::environment
