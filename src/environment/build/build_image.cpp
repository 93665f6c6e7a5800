// SPDX-License-Identifier: Apache-2.0
#include "environment/build/build_image.hpp"

#include "base/text.hpp"
#include "dockerapi/container.hpp"
#include "dockerapi/tar.hpp"
#include "environment/build/base_name.hpp"
#include "environment/build/image_settings.hpp"
#include "environment/spec/image_names.hpp"
#include "environment/spec/python_version.hpp"
#include "environment/tools/conda_tool.hpp"
#include "environment/tools/embedded_scripts.hpp"
#include "environment/tools/telling_line.hpp"

#include <algorithm>

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;
constexpr const char* conda_mount = "/ponk-build/conda";
constexpr const char* pip_mount = "/ponk-build/pip";
constexpr std::size_t largest_lock = std::size_t{64} << 20;

bool uses_local_channel(const PackageRequest& packages)
{
    return std::any_of(packages.channels.begin(), packages.channels.end(), [](const auto& channel) {
        return channel.starts_with("file:") || channel.starts_with('/');
    });
}

std::string json_words(const std::vector<std::string>& words)
{
    return to_json(JsonArray(words.begin(), words.end()));
}

// The step that makes the prefix with the image's conda.
Result<std::string> conda_script(const ImageWork& work, const Variables& variables)
{
    std::string text = "set -e\numask 022\n";
    for (const auto& [name, value] : variables)
        text += fmt::format("export {}={}\n", name, shell_word(value));
    const auto program = work.plan.conda.program.string();
    const bool lock = work.lock.has_value();
    const bool plain = lock || work.plan.conda.builder == Builder::micromamba;
    text += fmt::format("export CONDA_PKGS_DIRS=/opt/ponk/pkgs MAMBA_ROOT_PREFIX=/opt/ponk/pkgs "
                        "CONDA_ALWAYS_YES=1\n"
                        "{} {} --prefix {} --file {}/{}\n"
                        "rm -rf /opt/ponk/pkgs\n"
                        "{}/bin/python {}/install_packages.py --clean {}\n",
                        shell_word(program),
                        plain ? "create --yes" : "env create",
                        image_prefix,
                        conda_mount,
                        lock ? "explicit.txt" : "environment.yml",
                        image_prefix,
                        conda_mount,
                        image_prefix);
    return text;
}

// The virtual packages of an image's system, as far as it told.
Json system_of(const ImageWork& work)
{
    const auto item = [](const char* name, const std::string& version, const char* build) {
        return JsonObject{{"name", name}, {"version", version}, {"build", build}};
    };
    // 2.17 is the oldest that packages of today are built for.
    return JsonArray{
        item("__unix", "0", "0"),
        item("__linux", "5.10", "0"),
        item("__glibc", work.facts.glibc.empty() ? "2.17" : work.facts.glibc, "0"),
        item("__archspec", "1", work.spec.platform == "linux-aarch64" ? "aarch64" : "x86_64")};
}

Result<>
add_conda_part(const ImageWork& work, const BuildContext& context, BuildContextFiles& files)
{
    if (work.plan.way == ImageWay::conda) {
        const auto settings =
            TRY(settings_for_image(context.settings, "conda", conda_mount, files));
        files.add_text("conda/create.sh", TRY(conda_script(work, settings.others)));
        files.add_text("conda/install_packages.py", std::string(install_packages_script()));
        if (work.lock)
            files.add_text("conda/explicit.txt",
                           TRY(explicit_list(*work.lock, work.spec.packages.channels)));
        else
            files.add_text("conda/environment.yml", conda_file(work.spec.packages));
        return {};
    }
    if (work.plan.way != ImageWay::linked_here) return {};
    const auto rattler = TRY(provide_rattler(*work.plan.carrier, context));
    const auto prefix = context.folder / "prefix";
    TRY(link_conda_packages(rattler,
                            {.channels = work.spec.packages.channels,
                             .specs = conda_specs(work.spec.packages),
                             .platform = work.spec.platform,
                             .prefix = prefix,
                             .used_at = image_prefix,
                             .system = system_of(work),
                             .lock = work.lock},
                            context));
    const auto script = context.folder / "install_packages.py";
    TRY(os::replace_file(script, install_packages_script(), 0600, os::Durable::no));
    TRY(context.run("python", {rattler.string(), script.string(), "--clean", prefix.string()}));
    return files.add_tree("prefix", prefix);
}

// The packages with files and folders as the step sees them.
Result<PackageRequest> packages_inside(const PackageRequest& packages, BuildContextFiles& files)
{
    auto inside = packages;
    std::size_t number = 0;
    for (auto& line : inside.pip) {
        if (line.file) {
            // Each in a folder of its own: its name says what it is, and two may have one name.
            const auto name =
                fmt::format("wheels/{}/{}", number++, line.file->path.filename().string());
            files.add_file("pip/" + name, line.file->path);
            line.file->path = Path(pip_mount) / name;
            line.text = line.file->path.string();
        } else if (!line.folder.empty()) {
            const auto name = fmt::format("folder{}", number++);
            TRY(files.add_tree("pip/" + name, line.folder));
            line.text = fmt::format("--find-links {}/{}", pip_mount, name);
        }
    }
    return inside;
}

Result<Variables>
add_pip_part(const ImageWork& work, const BuildContext& context, BuildContextFiles& files)
{
    const auto settings = TRY(settings_for_image(context.settings, "pip", pip_mount, files));
    const auto inside = TRY(packages_inside(work.spec.packages, files));
    JsonArray lines;
    const bool packages = std::any_of(
        inside.pip.begin(), inside.pip.end(), [](const auto& line) { return !line.is_option; });
    if (packages && work.lock) {
        for (auto& line : TRY(exact_lines(*work.lock, inside)))
            lines.emplace_back(std::move(line));
    } else if (packages) {
        for (const auto& line : inside.pip)
            lines.emplace_back(line.text);
    }
    JsonObject variables;
    for (const auto& [name, value] : settings.others)
        variables.set(name, value);
    JsonObject plan{{"prefix", image_prefix},
                    {"python", fmt::format("{}/bin/python", image_prefix)},
                    {"installer", "pip"},
                    {"cache", "no"},
                    {"lines", std::move(lines)},
                    {"environment", std::move(variables)},
                    {"platform", work.spec.platform},
                    {"lock", image_lock}};
    if (work.lock) plan.set("locked", JsonArray{true});
    if (work.plan.way == ImageWay::venv)
        plan.set("create", JsonArray{work.plan.python.program, "-m", "venv", image_prefix});
    files.add_text("pip/plan.json", to_json(plan, JsonStyle::pretty));
    files.add_text("pip/install_packages.py", std::string(install_packages_script()));
    return settings.proxies;
}

}  // namespace

Error explain_build_failure(const Error& error, const Redactor& redactor)
{
    auto text = redactor.clean(error.message());
    const auto newline = text.find('\n');
    const auto output = newline == std::string::npos ? std::string() : text.substr(newline + 1);
    // The engine names the command of the step; why it failed is in what the step printed.
    if (const auto told = telling_line(output); !told.empty())
        text = fmt::format(
            "a build step of the image failed: {}\n{}\n{}", told, output, text.substr(0, newline));
    auto hint = error.hint().empty() ? advice_for(text) : error.hint();
    constexpr const char* other_network = "'buildNetwork: host' in the .compute file (or "
                                          "PONK_BUILD_NETWORK=host) uses the machine's network.";
    const auto lowered = lower(text);
    if (hint.starts_with("The package index cannot be reached"))
        hint += fmt::format(" Image builds may use a different network: {}", other_network);
    else if (lowered.find("network") != std::string::npos &&
             lowered.find("not found") != std::string::npos &&
             kind_of_failure(output) == ErrorKind::unavailable)
        hint = fmt::format("The engine has no such build network: {}", other_network);
    const auto kind =
        error.kind() == ErrorKind::unavailable ? kind_of_failure(output) : error.kind();
    return {kind, std::move(text), std::move(hint)};
}

std::string ImagePlan::builder() const
{
    switch (way) {
    case ImageWay::venv:
        return "venv in the image";
    case ImageWay::conda:
        return fmt::format("{} in the image", to_string(conda.builder));
    case ImageWay::linked_here:
        return "rattler";
    }
    return "rattler";
}

Result<ImagePlan> choose_image_way(const PackageRequest& packages,
                                   const ImageFacts& facts,
                                   const std::function<std::optional<Python>()>& carrier)
{
    ImagePlan plan;
    std::vector<std::string> seen;
    for (const auto& python : facts.pythons) {
        seen.push_back(fmt::format(
            "{} ({}{})", python.program, python.version, python.has_venv ? "" : ", without venv"));
        if (packages.needs_conda() || !python.has_venv || !fits(python.version, packages.python))
            continue;
        plan.python = python;
        plan.reason =
            fmt::format("only Python and pip packages are required, and the image's {} is {}",
                        python.program,
                        python.version);
        return plan;
    }
    const auto why = packages.needs_conda()
                         ? fmt::format("conda packages are required ('{}')", packages.conda.front())
                         : fmt::format("Python '{}' is asked for; the image has {}",
                                       packages.python.empty() ? "any with venv" : packages.python,
                                       seen.empty() ? "none" : join(seen, ", "));
    const bool local_channel = uses_local_channel(packages);
    if (!facts.conda.empty() && !local_channel) {
        plan.way = ImageWay::conda;
        plan.conda = facts.conda.front();
        plan.reason = fmt::format("{}; the image has {}", why, plan.conda.program.string());
        return plan;
    }
    plan.way = ImageWay::linked_here;
    plan.carrier = carrier();
    if (plan.carrier) {
        plan.reason = fmt::format("{}; {}, so the packages are linked here and become a layer",
                                  why,
                                  local_channel && !facts.conda.empty()
                                      ? "a channel is a folder of this machine"
                                      : "the image has no conda");
        return plan;
    }
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              why + ", the image has no conda, and this machine no Python that could link them",
              "Name an image with conda or a fitting Python in 'baseDockerImage', or install a "
              "Python of at least 3.10 with its venv module here."));
}

std::string dockerfile_for(const ImageWork& work, const std::string& base)
{
    auto text = fmt::format("FROM {}\nUSER root\n", base);
    if (work.plan.way == ImageWay::conda) {
        text += fmt::format("RUN --mount=type=bind,source=conda,target={} {}\n",
                            conda_mount,
                            json_words({"/bin/sh", fmt::format("{}/create.sh", conda_mount)}));
    } else if (work.plan.way == ImageWay::linked_here) {
        text += fmt::format("COPY prefix {}\n", image_prefix);
    }
    const auto interpreter = work.plan.way == ImageWay::venv
                                 ? work.plan.python.program
                                 : fmt::format("{}/bin/python", image_prefix);
    text += fmt::format("RUN --mount=type=bind,source=pip,target={} {}\n",
                        pip_mount,
                        json_words({interpreter,
                                    fmt::format("{}/install_packages.py", pip_mount),
                                    fmt::format("{}/plan.json", pip_mount)}));
    text += fmt::format("ENV PATH={}/bin:$PATH\n", image_prefix);
    if (!work.base.user.empty()) text += fmt::format("USER {}\n", work.base.user);
    return text;
}

Result<std::string> build_environment_image(const ImageWork& work, const BuildContext& context)
{
    context.progress(fmt::format("building with {}: {}", work.plan.builder(), work.plan.reason));
    BuildContextFiles files;
    const auto base =
        TRY(BaseName::make(work.request.engine, work.request.base, work.base, context.stop));
    files.add_text("Dockerfile", dockerfile_for(work, base.text()));
    TRY(add_conda_part(work, context, files));
    auto proxies = TRY(add_pip_part(work, context, files));
    const dockerapi::BuildSpec spec{.tag = image_tag(work.key),
                                    .network = work.request.network.empty()
                                                   ? context.settings.build_network
                                                   : work.request.network,
                                    .arguments = std::move(proxies),
                                    .labels = {{environment_label, work.key},
                                               {base_label, work.spec.base},
                                               {builder_label, work.plan.builder()}}};
    return dockerapi::build_image(
               work.request.engine,
               spec,
               files.source(),
               [&context](const std::string& line) {
                   context.progress(context.redactor.clean(line));
               },
               context.stop)
        .map_error([&context](const Error& error) {
            return explain_build_failure(error, context.redactor);
        });
}

Result<Lock>
read_image_lock(const dockerapi::Engine& engine, const std::string& image, std::stop_token stop)
{
    dockerapi::ContainerSpec spec;
    spec.name = "ponk-lock-" + to_hex(random_bytes(8));
    spec.image = image;
    spec.command = {"never-started"};
    spec.labels = {{"ponk.probe", "1"}};
    TRY(create_container(engine, spec, after(patience), stop));
    std::string text;
    dockerapi::TarReader reader({[](const dockerapi::TarEntry&) -> Result<> { return {}; },
                                 [&text](std::string_view bytes) -> Result<> {
                                     if (text.size() + bytes.size() > largest_lock)
                                         return fail(ErrorKind::damaged,
                                                     "the lock in the image is too large");
                                     text += bytes;
                                     return {};
                                 }});
    Result<> reading;
    const auto copied = copy_out(
        engine,
        spec.name,
        image_lock,
        [&](std::string_view bytes) {
            reading = reader.take(bytes);
            return reading.has_value();
        },
        stop);
    static_cast<void>(remove_container(engine, spec.name, after(patience)));
    TRY(copied.map_error(while_doing("read the lock of the image")));
    TRY(reading);
    return parse_lock(text);
}

}  // namespace ponk::environment
