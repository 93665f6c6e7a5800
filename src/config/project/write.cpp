// SPDX-License-Identifier: Apache-2.0
#include "config/project/write.hpp"

#include "base/text.hpp"
#include "config/files/run_configuration_reading.hpp"
#include "config/project/resolve.hpp"
#include "config/schema/schema.hpp"
#include "config/text/document.hpp"

#include <algorithm>
#include <filesystem>

namespace ponk::config {

namespace {

// Plain where that reads back as the same text, else in double quotes.
std::string scalar(const std::string& text)
{
    static constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-./~$=";
    const bool plain = !text.empty() && text.find_first_not_of(safe) == std::string::npos &&
                       text[0] != '-' && text[0] != '=' && text[0] != '~';
    Node node;
    node.text = text;
    if (plain && plain_json(node).is_string() && !boolean_of(node)) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') quoted += '\\';
        if (byte < 0x20 || byte == 0x7F) {
            quoted += fmt::format("\\x{:02x}", byte);
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

class Lines {
public:
    void add(std::string_view key, const std::string& value)
    {
        if (!value.empty()) text_ += fmt::format("{}: {}\n", key, scalar(value));
    }
    void add(std::string_view key, bool value)
    {
        text_ += fmt::format("{}: {}\n", key, value ? "true" : "false");
    }
    void add_raw(const std::string& text) { text_ += text; }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

std::string compute_text(const ComputeTarget& target)
{
    Lines lines;
    const TargetType type = *target.type;
    lines.add("type", std::string(to_string(type)));
    if (is_another_machine(target)) {
        const bool v6 = target.address->find(':') != std::string::npos;
        const auto host = v6 ? "[" + *target.address + "]" : *target.address;
        lines.add("address", *target.port == 22 ? host : fmt::format("{}:{}", host, *target.port));
        lines.add("username", *target.username);
        lines.add("password", *target.password);
        lines.add("privateKey", *target.private_key);
    }
    if (uses_docker(type)) {
        lines.add("baseDockerImage", *target.base_docker_image);
        lines.add("nvidiaDocker", *target.nvidia_docker);
        lines.add("sharedVolumes", *target.shared_volumes);
        lines.add("shmSize", *target.shm_size);
        lines.add("buildNetwork", *target.build_network);
        for (const auto& mount : target.mounts)
            lines.add_raw(fmt::format(
                "{}  - {}\n", &mount == &target.mounts.front() ? "mounts:\n" : "", scalar(*mount)));
    }
    if (type == TargetType::remote) {
        lines.add("userManagedEnvironment", *target.user_managed_environment);
    }
    if (is_process(type) || type == TargetType::slurm) {
        lines.add("pythonLocation", *target.python_location);
    }
    if (type == TargetType::cluster) {
        lines.add("yarnDeployMode", *target.yarn_deploy_mode);
    } else {
        lines.add("nativeSharedDirectory", *target.native_shared_directory);
    }
    lines.add("partition", *target.slurm.partition);
    lines.add("account", *target.slurm.account);
    lines.add("qos", *target.slurm.qos);
    lines.add("gres", *target.slurm.gres);
    lines.add("scratch", *target.scratch);
    lines.add("shared", *target.shared);
    if (target.shared_with_others.given()) lines.add("shared", *target.shared_with_others);
    lines.add("gpus", *target.gpus);
    if (*target.gpu != GpuPolicy::automatic) lines.add("gpu", std::string(to_string(*target.gpu)));
    if (*target.autostop_seconds > 0) {
        lines.add_raw(fmt::format("autostop: {}s\n", *target.autostop_seconds));
    }
    return lines.text();
}

std::string runconfig_text(const RunConfiguration& configuration)
{
    Lines lines;
    lines.add_raw("ArgumentVector:\n");
    lines.add_raw("- " + scalar(configuration.script->empty() ? "$file" : *configuration.script) +
                  "\n");
    for (const auto& argument : configuration.arguments) {
        lines.add_raw("- " + scalar(*argument) + "\n");
    }
    lines.add("Target", *configuration.target);
    lines.add("Framework", std::string(to_string(*configuration.framework)));
    lines.add("CondaDependenciesFile", *configuration.conda_dependencies_file);
    lines.add("SparkDependenciesFile", *configuration.spark_dependencies_file);
    if (!configuration.environment_variables.empty()) {
        lines.add_raw("EnvironmentVariables:\n");
        for (const auto& variable : configuration.environment_variables) {
            lines.add_raw(fmt::format("  {}: {}\n", scalar(variable.name), scalar(variable.value)));
        }
    }
    lines.add("PrepareEnvironment", *configuration.prepare_environment);
    lines.add("TrackedRun", *configuration.tracked_run);
    return lines.text();
}

Result<os::Path> publish(const os::Path& project,
                         std::string_view what,
                         const std::string& shown,
                         const std::string& text)
{
    TRY(require_own_folder(project, "aml_config"));
    TRY(os::make_directories(project / "aml_config", 0755));
    const os::Path path = project / shown;
    const auto written = os::publish_file(path, text, 0644);
    if (written) return path;
    if (written.error().kind() == ErrorKind::conflict) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("the {} file {} already exists", what, os::in_quotes(path)),
                  "Choose another name, or remove the file first."));
    }
    return tl::unexpected(written.error());
}

}  // namespace

Result<> check_name(std::string_view what, std::string_view name)
{
    static constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    const bool good = !name.empty() && name.size() <= 64 &&
                      name.find_first_not_of(allowed) == std::string_view::npos &&
                      !name.starts_with('.') && !name.starts_with('-') && !name.ends_with('.');
    if (good) return {};
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("'{}' is not a valid {} name", printable(name), what),
                                "Use at most 64 letters, digits, '_' and '-'; '.' only inside."));
}

Result<> require_own_folder(const os::Path& project, std::string_view name)
{
    std::error_code problem;
    const os::Path folder = project / name;
    if (!std::filesystem::is_symlink(folder, problem)) return {};
    const auto real = std::filesystem::weakly_canonical(folder, problem);
    const auto inside = real.lexically_relative(std::filesystem::canonical(project, problem));
    if (!problem && !inside.empty() && *inside.begin() != "..") return {};
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                os::in_quotes(folder) + " is a link to " + os::in_quotes(real) +
                                    ", outside the project",
                                "Put a folder in its place, or a link to one in the project."));
}

RunConfiguration new_run_configuration(std::string name, std::string target)
{
    RunConfiguration configuration;
    configuration.name = std::move(name);
    configuration.schema = RunSchema::flat_2017;
    configuration.target = std::move(target);
    configuration.conda_dependencies_file = std::string(default_conda_file);
    configuration.spark_dependencies_file = std::string(default_spark_file);
    return configuration;
}

Result<os::Path> write_compute_file(const os::Path& project, const ComputeTarget& target)
{
    TRY(check_name("target", target.name));
    return publish(project, "target", shown_name(target.name, ".compute"), compute_text(target));
}

Result<os::Path> write_runconfig_file(const os::Path& project,
                                      const RunConfiguration& configuration)
{
    TRY(check_name("run configuration", configuration.name));
    return publish(project,
                   "run configuration",
                   shown_name(configuration.name, ".runconfig"),
                   runconfig_text(configuration));
}

}  // namespace ponk::config
