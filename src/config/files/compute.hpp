// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/files/gpu_keys.hpp"
#include "config/files/slurm_keys.hpp"
#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "config/text/place.hpp"
#include "model/target_type.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ponk::config {

using model::is_process;
using model::is_process_here;
using model::is_served;
using model::target_type_from;
using model::TargetType;
using model::to_string;
using model::uses_docker;
using model::uses_ssh;

// A <name>.compute file with its synonyms resolved and its defaults filled in. Empty text means
// absent. What no line of the file says has no place.
struct ComputeTarget {
    std::string name;
    std::string file;  // as shown in messages; empty for the built-in "local"
    Located<TargetType> type = TargetType::local;

    Located<std::string> base_docker_image;
    Located<bool> shared_volumes = true;
    Located<std::string> native_shared_directory = std::string("~/.azureml/share/");
    Located<bool> nvidia_docker = false;
    Located<std::string> shm_size;
    std::vector<Located<std::string>> mounts;  // SOURCE:TARGET[:ro|:rw], checked
    Located<std::string> build_network;        // of an image's build; empty: the engine's default

    Located<std::string> address;  // without the port
    Located<int> port = 22;
    Located<std::string> username;
    Located<std::string> password;     // a reference to a secret, never the secret itself
    Located<std::string> private_key;  // a reference or a path
    Located<bool> user_managed_environment = false;
    Located<std::string> python_location = std::string("python");
    Located<std::string> spark_submit_location = std::string("spark-submit");
    Located<std::string> yarn_deploy_mode = std::string("cluster");

    Located<std::string> gpus;  // in the words of model::parse_gpu_selection
    Located<GpuPolicy> gpu = GpuPolicy::automatic;
    Located<std::int64_t> gpu_grace_seconds = std::int64_t{600};
    Located<std::int64_t> autostop_seconds = std::int64_t{0};  // 0: never
    Located<std::string> scratch;
    Located<std::string> shared;               // a folder, of a cluster
    Located<bool> shared_with_others = false;  // the machine, of other types: the same key
    SlurmKeys slurm;

    // batchai of late 2018: read, shown, not served.
    Located<std::string> subscription_id, resource_group, cluster_name, workspace_name;
};

// Runs get there by SSH. The login node of a Slurm cluster may be this machine.
bool is_another_machine(const ComputeTarget& target);

// The target that exists without any file.
ComputeTarget built_in_local();

// Reads a parsed .compute; remarks go to `report`. What is wrong keeps its default.
ComputeTarget read_compute(const Node& root, std::string name, Report& report);

Json meaning_of(const ComputeTarget& target);

}  // namespace ponk::config
