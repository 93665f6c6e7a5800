// SPDX-License-Identifier: Apache-2.0
#include "environment/build/build_prefix.hpp"

#include "base/text.hpp"
#include "environment/tools/conda_tool.hpp"
#include "environment/tools/embedded_scripts.hpp"
#include "environment/tools/fetch_tool.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::environment {

namespace {

// Frameworks whose libraries for GPUs alone are gigabytes.
bool is_large(std::string_view name)
{
    static constexpr std::string_view names[] = {"torch",
                                                 "pytorch",
                                                 "tensorflow",
                                                 "tensorflow-gpu",
                                                 "jax",
                                                 "jaxlib",
                                                 "cupy",
                                                 "cntk",
                                                 "cntk-gpu",
                                                 "mxnet",
                                                 "paddlepaddle",
                                                 "paddlepaddle-gpu",
                                                 "torchvision",
                                                 "vllm",
                                                 "pyspark"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

Result<> create_venv(const BuildPlan& plan, const Path& prefix, const BuildContext& context)
{
    const auto python = plan.python->program.string();
    if (plan.builder == Builder::uv)
        return context.run(
            "uv", {plan.program.string(), "venv", "--no-project", "--python", python, prefix});
    return context.run("venv", {python, "-m", "venv", prefix.string()});
}

Result<> create_conda(const EnvironmentSpec& spec,
                      const BuildPlan& plan,
                      const std::optional<Lock>& lock,
                      const Path& prefix,
                      const BuildContext& context)
{
    if (!plan.address.empty()) {
        const auto address = TRY(parse_tool_address(plan.address));
        const auto program = TRY(fetch_tool(address, *plan.python, context));
        const auto builder = address.name == "micromamba" ? Builder::micromamba
                             : address.name == "mamba"    ? Builder::mamba
                             : address.name == "pixi"     ? Builder::pixi
                                                          : Builder::conda;
        return create_by_conda_tool({builder, program}, spec, lock, prefix, context);
    }
    if (plan.builder != Builder::rattler) {
        return create_by_conda_tool({plan.builder, plan.program}, spec, lock, prefix, context);
    }
    const auto rattler = TRY(provide_rattler(*plan.python, context));
    return link_conda_packages(rattler,
                               {.channels = spec.packages.channels,
                                .specs = conda_specs(spec.packages),
                                .platform = spec.platform,
                                .prefix = prefix,
                                .lock = lock},
                               context);
}

// pip's part, and the list of everything.
Result<Lock> install_packages(const EnvironmentSpec& spec,
                              const BuildPlan& plan,
                              const std::optional<Lock>& lock,
                              const Path& prefix,
                              const BuildContext& context)
{
    const auto script = context.folder / "install_packages.py";
    const auto plan_file = context.folder / "pip-plan.json";
    const auto lock_file = context.folder / "found.json";
    const auto interpreter = prefix / "bin" / "python";
    JsonArray lines;
    if (lock) {
        for (auto& line : TRY(exact_lines(*lock, spec.packages)))
            lines.emplace_back(std::move(line));
    } else {
        for (const auto& line : spec.packages.pip)
            lines.emplace_back(line.text);
    }
    const bool packages = std::any_of(spec.packages.pip.begin(),
                                      spec.packages.pip.end(),
                                      [](const PipLine& line) { return !line.is_option; });
    if (!packages) lines.clear();
    JsonObject work{{"prefix", prefix.string()},
                    {"python", interpreter.string()},
                    {"installer", plan.builder == Builder::uv ? "uv" : "pip"},
                    {"uv", plan.program.string()},
                    {"lines", std::move(lines)},
                    {"platform", spec.platform},
                    {"lock", lock_file.string()}};
    if (lock) {
        JsonArray locked;
        const auto document = TRY(parse_json(to_text(*lock)));
        for (const auto& package : document["packages"].as_array()) {
            auto item = package;
            if (!item.as_object().find("direct")) item.as_object().set("direct", false);
            if (item.text("manager") == "pip") locked.push_back(std::move(item));
        }
        work.set("locked", std::move(locked));
    }
    TRY(os::replace_file(script, install_packages_script(), 0600, os::Durable::no));
    TRY(os::replace_file(plan_file, to_json(work), 0600, os::Durable::no));
    const auto done = context.run(plan.builder == Builder::uv ? "uv" : "pip",
                                  {interpreter.string(), script.string(), plan_file.string()});
    ::unlink(plan_file.c_str());  // addresses may hold tokens
    ::unlink(script.c_str());
    TRY(done);
    const auto text = TRY(os::read_file(lock_file, std::uint64_t{64} << 20));
    ::unlink(lock_file.c_str());
    return parse_lock(text);
}

// A build from a lock that came out different is no such build.
Result<> check_against(const Lock& built, const Lock& wanted)
{
    const auto names = [](const Lock& lock) {
        std::vector<std::string> texts;
        for (const auto& package : lock.packages)
            texts.push_back(package.name + " " + package.version + " " + package.build);
        return texts;
    };
    const auto have = names(built);
    for (const auto& text : names(wanted)) {
        if (std::find(have.begin(), have.end(), text) == have.end())
            return fail(ErrorKind::unavailable,
                        "the environment lacks '{}', which is in its lock",
                        trim(text));
    }
    if (have.size() != wanted.packages.size())
        return fail(ErrorKind::unavailable,
                    "the environment has {} packages, its lock {}",
                    have.size(),
                    wanted.packages.size());
    return {};
}

}  // namespace

Redactor redactor_for(const PackageRequest& packages, const Settings& settings)
{
    Redactor redactor;
    for (const auto& line : packages.pip)
        redactor.add_secrets_of(line.text);
    for (const auto& channel : packages.channels)
        redactor.add_secrets_of(channel);
    for (const auto& [name, value] : network_settings(settings.environment))
        redactor.add_secrets_of(value);
    return redactor;
}

std::uint64_t space_needed(const PackageRequest& packages, const Settings& settings)
{
    constexpr std::uint64_t large = std::uint64_t{5} << 30;
    const bool any =
        std::any_of(packages.pip.begin(),
                    packages.pip.end(),
                    [](const PipLine& line) { return is_large(line.name); }) ||
        std::any_of(packages.conda.begin(), packages.conda.end(), [](const std::string& spec) {
            return is_large(name_of_spec(spec));
        });
    return settings.smallest_free_space + (any && settings.smallest_free_space > 0 ? large : 0);
}

Result<> check_space(const Path& folder, std::uint64_t needed)
{
    const auto free = TRY(os::free_space(folder));
    if (free >= needed) return {};
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("only {} are free in {}, but this environment may need {}",
                          byte_size_text(free),
                          os::in_quotes(folder),
                          byte_size_text(needed)),
              "Remove environments ('ponk environment list' shows their sizes), or set PONK_HOME "
              "to another disk; PONK_ENV_FREE_SPACE sets the limit in bytes."));
}

Result<BuiltPrefix> build_prefix(const EnvironmentSpec& spec,
                                 const BuildPlan& plan,
                                 const std::optional<Lock>& lock,
                                 const BuildContext& context)
{
    TRY(check_space(context.folder, space_needed(spec.packages, context.settings)));
    context.progress(fmt::format("building with {}: {}", to_string(plan.builder), plan.reason));
    const auto prefix = context.folder / "prefix";
    if (is_conda_like(plan.builder))
        TRY(create_conda(spec, plan, lock, prefix, context));
    else
        TRY(create_venv(plan, prefix, context));
    const auto interpreter = prefix / "bin" / "python";
    if (::access(interpreter.c_str(), X_OK) != 0) {
        return fail(ErrorKind::unavailable,
                    "{} built an environment without an interpreter {}",
                    to_string(plan.builder),
                    os::in_quotes(interpreter));
    }
    auto found = TRY(install_packages(spec, plan, lock, prefix, context));
    if (lock) TRY(check_against(found, *lock));
    return BuiltPrefix{prefix, interpreter, std::move(found)};
}

}  // namespace ponk::environment
