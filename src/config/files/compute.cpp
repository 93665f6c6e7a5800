// SPDX-License-Identifier: Apache-2.0
#include "config/files/compute.hpp"

#include "base/text.hpp"
#include "config/files/image.hpp"
#include "config/files/mount.hpp"
#include "config/schema/schemas.hpp"

#include <algorithm>
#include <array>

namespace ponk::config {

ComputeTarget built_in_local()
{
    ComputeTarget target;
    target.name = "local";
    return target;
}

namespace {

class ComputeReader {
public:
    ComputeReader(const Node& root, ComputeTarget& target, Report& report)
        : root_(root), reader_(&root), target_(target), report_(report)
    {
    }

    void read()
    {
        read_type();
        read_values();
        read_address();
        if (!target_.type.given()) return;
        check_unused();
        check_access();
        check_docker();
    }

private:
    void read_type()
    {
        Located<std::string> type;
        reader_.read("type", type);
        if (type.given()) {
            if (const auto known = target_type_from(*type)) target_.type = {*known, type.place};
            return;
        }
        // Before there were types, two flags told a cluster from a machine.
        Located<bool> cluster = false;
        reader_.read("cluster", cluster);
        if (cluster.given()) {
            target_.type = {*cluster ? TargetType::cluster : TargetType::remotedocker,
                            cluster.place};
            return;
        }
        if (!root_.is_map()) return;
        report_.error(root_.place,
                      "missing-key",
                      "a compute target needs the key 'type'",
                      "Add a line such as 'type: local', 'type: localdocker' or 'type: "
                      "remotedocker'.");
    }

    void read_values()
    {
        auto& t = target_;
        reader_.read("baseDockerImage", t.base_docker_image);
        reader_.read("sharedVolumes", t.shared_volumes);
        reader_.read("nativeSharedDirectory", t.native_shared_directory);
        reader_.read("nvidiaDocker", t.nvidia_docker);
        reader_.read("shmSize", t.shm_size);
        reader_.read("buildNetwork", t.build_network);
        read_mounts();
        reader_.read("username", t.username);
        reader_.read("password", t.password);
        reader_.read("privateKey", t.private_key);
        t.user_managed_environment = *t.type == TargetType::remote;
        reader_.read("userManagedEnvironment", t.user_managed_environment);
        reader_.read("pythonLocation", t.python_location);
        reader_.read("sparkSubmitLocation", t.spark_submit_location);
        reader_.read("yarnDeployMode", t.yarn_deploy_mode);
        read_gpu_keys(reader_, {t.gpus, t.gpu, t.gpu_grace_seconds}, report_);
        reader_.read_seconds("autostop", t.autostop_seconds);
        reader_.read("scratch", t.scratch);
        read_shared();
        read_slurm_keys(reader_, t.slurm, report_);
        reader_.read("subscriptionId", t.subscription_id);
        reader_.read("resourceGroup", t.resource_group);
        reader_.read("clusterName", t.cluster_name);
        reader_.read("workspaceName", t.workspace_name);
    }

    void read_mounts()
    {
        std::vector<Located<std::string>> mounts;
        reader_.read("mounts", mounts);
        for (auto& mount : mounts) {
            if (const auto problem = problem_of_mount(*mount); !problem.empty()) {
                report_.error(
                    mount.place,
                    "wrong-value",
                    fmt::format("'mounts' cannot have '{}': {}", printable(*mount), problem),
                    "Write SOURCE:TARGET or SOURCE:TARGET:ro with absolute paths, such "
                    "as '/data/images:/data:ro'.");
            } else {
                target_.mounts.push_back(std::move(mount));
            }
        }
    }

    // One key with two meanings.
    void read_shared()
    {
        const TargetType type = *target_.type;
        if (type == TargetType::slurm || type == TargetType::cluster)
            return reader_.read("shared", target_.shared);
        check_value({"shared", ValueKind::boolean}, root_, report_);
        reader_.read("shared", target_.shared_with_others);
    }

    // host, host:port, [v6], [v6]:port, v6
    void read_address()
    {
        Located<std::string> address;
        reader_.read("address", address);
        if (!address.given() || address->empty()) return;
        std::string_view host = *address;
        std::string_view port;
        if (host.starts_with('[')) {
            const std::size_t end = std::min(host.find(']'), host.size());
            port = end + 1 < host.size() ? host.substr(end + 1) : "";
            host = host.substr(1, end - 1);
        } else if (std::count(host.begin(), host.end(), ':') == 1) {
            port = host.substr(host.find(':'));
            host = host.substr(0, host.find(':'));
        }
        target_.address = {std::string(host), address.place};
        if (port.empty()) return;
        const auto number = parse_integer(port.substr(1));
        if (port[0] != ':' || !number || *number < 1 || *number > 65535) {
            report_.error(address.place,
                          "wrong-value",
                          fmt::format("'address' has no port number after the colon in '{}'",
                                      printable(*address)),
                          "Write 'host' or 'host:port', with a port from 1 to 65535.");
            return;
        }
        target_.port = {static_cast<int>(*number), address.place};
    }

    void check_unused()
    {
        const TargetType type = *target_.type;
        const auto unused = [&](std::string_view key, bool used) {
            const Node* value = reader_.find(key);
            if (value == nullptr || used || boolean_of(*value) == false) return;
            report_.notice(
                value->place,
                "unused-key",
                fmt::format("'{}' has no effect on a target of type '{}'", key, to_string(type)));
        };
        unused("baseDockerImage", uses_docker(type));
        unused("nvidiaDocker", uses_docker(type));
        unused("shmSize", uses_docker(type));
        unused("buildNetwork", uses_docker(type));
        unused("mounts", uses_docker(type));
        unused("address", uses_ssh(type));
        unused("username", uses_ssh(type));
        unused("yarnDeployMode", type == TargetType::cluster);
        for (const char* key : {"partition", "account", "qos", "gres", "sbatch"})
            unused(key, type == TargetType::slurm);
    }

    void check_access()
    {
        if (!is_another_machine(target_)) return;
        for (const auto* key : {"address", "username"}) {
            if (reader_.find(key) != nullptr) continue;
            const Node* empty = root_.find(key);
            report_.warning(empty != nullptr ? empty->place : root_.place,
                            "missing-value",
                            fmt::format("'{}' is empty; a target of type '{}' cannot be reached "
                                        "without it",
                                        key,
                                        to_string(*target_.type)),
                            std::string_view(key) == "address"
                                ? "Write the machine's name or address after 'address:'."
                                : "Write your user name on that machine after 'username:'.");
        }
        const auto& password = target_.password;
        if (!password.given() || password->empty() || is_access_placeholder(*password)) return;
        if (password->starts_with("secret:")) return;
        if (password->starts_with("AzureMlSecret=")) {
            report_.notice(password.place,
                           "secret-gone",
                           "the password is stored in a service that was switched off",
                           "Use an SSH key, or store the password with 'ponk secret set NAME' and "
                           "write 'password: secret:NAME'.");
        } else {
            report_.warning(password.place,
                            "secret-in-file",
                            "this file contains a password in clear text",
                            "Store it with 'ponk secret set NAME', write 'password: secret:NAME', "
                            "and change it where it is used.");
        }
    }

    void check_docker()
    {
        if (!uses_docker(*target_.type)) return;
        const Node* image = reader_.find("baseDockerImage");
        if (image != nullptr && image->is_scalar()) {
            check_image(*image, report_);
        }
        check_gpu_agreement(
            {target_.base_docker_image, target_.nvidia_docker, "baseDockerImage", "nvidiaDocker"},
            report_);
        if (target_.shm_size.given() && !is_memory_size(*target_.shm_size)) {
            report_.error(target_.shm_size.place,
                          "wrong-value",
                          fmt::format("'shmSize' cannot be '{}'", printable(*target_.shm_size)),
                          "Write a number followed by b, k, m or g, such as '1g'.");
        }
    }

    const Node& root_;
    SectionReader reader_;
    ComputeTarget& target_;
    Report& report_;
};

Json text_or_null(const std::string& text)
{
    return text.empty() ? Json() : Json(text);
}

}  // namespace

ComputeTarget read_compute(const Node& root, std::string name, Report& report)
{
    ComputeTarget target;
    target.name = std::move(name);
    target.file = report.file();
    check_against(compute_schema(), root, report);
    ComputeReader(root, target, report).read();
    return target;
}

bool is_another_machine(const ComputeTarget& target)
{
    return uses_ssh(*target.type) &&
           !(*target.type == TargetType::slurm && target.address->empty());
}

Json meaning_of(const ComputeTarget& target)
{
    const TargetType type = *target.type;
    JsonObject meaning{{"name", target.name}, {"type", to_string(type)}};
    if (uses_ssh(type)) {
        meaning.set("address", text_or_null(*target.address));
        meaning.set("port", *target.port);
        meaning.set("username", text_or_null(*target.username));
        meaning.set("password", text_or_null(*target.password));
        meaning.set("privateKey", text_or_null(*target.private_key));
        meaning.set("userManagedEnvironment", *target.user_managed_environment);
        meaning.set("scratch", text_or_null(*target.scratch));
        meaning.set("autostop", *target.autostop_seconds);
    }
    if (uses_docker(type)) {
        meaning.set("baseDockerImage", text_or_null(*target.base_docker_image));
        meaning.set("nvidiaDocker", *target.nvidia_docker);
        meaning.set("sharedVolumes", *target.shared_volumes);
        meaning.set("shmSize", text_or_null(*target.shm_size));
        JsonArray mounts;
        for (const auto& mount : target.mounts)
            mounts.emplace_back(*mount);
        if (!mounts.empty()) meaning.set("mounts", std::move(mounts));
        if (target.build_network.given())
            meaning.set("buildNetwork", text_or_null(*target.build_network));
    }
    if (is_process(type) || type == TargetType::slurm) {
        meaning.set("pythonLocation", *target.python_location);
    }
    if (is_process_here(type)) {
        meaning.set("sparkSubmitLocation", *target.spark_submit_location);
    }
    if (type == TargetType::cluster) {
        meaning.set("yarnDeployMode", *target.yarn_deploy_mode);
    } else {
        meaning.set("nativeSharedDirectory", *target.native_shared_directory);
    }
    if (type == TargetType::slurm) {
        meaning.set("partition", text_or_null(*target.slurm.partition));
        meaning.set("account", text_or_null(*target.slurm.account));
        meaning.set("qos", text_or_null(*target.slurm.qos));
        meaning.set("gres", text_or_null(*target.slurm.gres));
        JsonArray options;
        for (const auto& option : target.slurm.options)
            options.emplace_back(*option);
        meaning.set("sbatch", std::move(options));
        meaning.set("shared", text_or_null(*target.shared));
    }
    if (type == TargetType::batchai) {
        meaning.set("subscriptionId", text_or_null(*target.subscription_id));
        meaning.set("resourceGroup", text_or_null(*target.resource_group));
        meaning.set("clusterName", text_or_null(*target.cluster_name));
        meaning.set("workspaceName", text_or_null(*target.workspace_name));
    }
    if (target.shared_with_others.given()) meaning.set("shared", *target.shared_with_others);
    meaning.set("gpus", text_or_null(*target.gpus));
    meaning.set("gpu", to_string(*target.gpu));
    meaning.set("gpuGrace", *target.gpu_grace_seconds);
    return meaning;
}

}  // namespace ponk::config
