// SPDX-License-Identifier: Apache-2.0
#include "config/files/compute.hpp"
#include "config/text/reading_test_support.hpp"

namespace ponk::config {
namespace {

std::string remarks(std::string_view text)
{
    Report report("f");
    (void)read_compute(tree_of(text), "t", report);
    return remarks_of(report.take());
}

ComputeTarget target(std::string_view text)
{
    Report report("f");
    return read_compute(tree_of(text), "t", report);
}

TEST(Compute, ResolvesTypesAndTheirSynonyms)
{
    const std::pair<const char*, TargetType> cases[] = {
        {"type: local", TargetType::local},
        {"type: \"localdocker\"", TargetType::localdocker},
        {"type: docker", TargetType::localdocker},
        {"type: remotedocker", TargetType::remotedocker},
        {"type: virtualmachine", TargetType::remotedocker},
        {"type: remote", TargetType::remote},
        {"type: cluster", TargetType::cluster},
        {"type: batchai", TargetType::batchai},
        {"type: slurm", TargetType::slurm},
        {"type: LocalDocker", TargetType::localdocker},
        {"cluster: True\nnative: True", TargetType::cluster},
        {"cluster: False\nnative: False", TargetType::remotedocker},
    };
    for (const auto& [text, type] : cases)
        EXPECT_EQ(*target(text).type, type) << text;
}

TEST(Compute, FillsInWhat2017Meant)
{
    const auto docker = target("type: docker\nbaseDockerImage: null\n");
    EXPECT_EQ(*docker.base_docker_image, "");
    EXPECT_TRUE(*docker.shared_volumes);
    EXPECT_FALSE(*docker.nvidia_docker);
    EXPECT_FALSE(docker.nvidia_docker.given());
    EXPECT_EQ(*docker.native_shared_directory, "~/.azureml/share/");
    EXPECT_FALSE(*docker.user_managed_environment);
    EXPECT_TRUE(*target("type: remote").user_managed_environment);
    EXPECT_EQ(*target("type: local").python_location, "python");
    EXPECT_EQ(*target("type: cluster").yarn_deploy_mode, "cluster");
}

TEST(Compute, KeepsThePlaceOfEveryValue)
{
    const auto t = target("type: docker\nnvidiaDocker:\ttrue\n");
    EXPECT_TRUE(*t.nvidia_docker);
    EXPECT_EQ(t.nvidia_docker.place, (Place{2, 15}));
    EXPECT_EQ(t.type.place, (Place{1, 7}));
}

TEST(Compute, SplitsThePortFromTheAddress)
{
    const std::tuple<const char*, const char*, int> cases[] = {
        {"host", "host", 22},
        {"host:5022", "host", 5022},
        {"192.0.2.10:22", "192.0.2.10", 22},
        {"\"[2001:db8::1]:2222\"", "2001:db8::1", 2222},
        {"\"2001:db8::1\"", "2001:db8::1", 22},
    };
    for (const auto& [text, host, port] : cases) {
        const auto t = target(fmt::format("type: remote\nusername: u\naddress: {}\n", text));
        EXPECT_EQ(*t.address, host) << text;
        EXPECT_EQ(*t.port, port) << text;
    }
    EXPECT_EQ(remarks("type: remote\nusername: u\naddress: host:none"), "3:10 error wrong-value");
    EXPECT_EQ(remarks("type: remote\nusername: u\naddress: host:99999"), "3:10 error wrong-value");
}

TEST(Compute, ReadsOurOwnKeys)
{
    const auto t = target("type: slurm\naddress: a\nusername: u\ngpus: [GPU-1, GPU-2]\n"
                          "gpu: required\ngpuGrace: 2m\nautostop: 1h\npartition: big\n"
                          "scratch: /scratch\nshared: /shared\n");
    EXPECT_EQ(*t.gpus, "GPU-1,GPU-2");
    EXPECT_EQ(*t.gpu, GpuPolicy::required);
    EXPECT_EQ(*t.gpu_grace_seconds, 120);
    EXPECT_EQ(*t.autostop_seconds, 3600);
    EXPECT_EQ(*t.slurm.partition, "big");
    EXPECT_EQ(*target("type: local\ngpus: 2").gpus, "2");
}

TEST(Compute, RemarksOnWhatIsWrong)
{
    const std::pair<const char*, const char*> cases[] = {
        {"type: local\n", ""},
        {"baseDockerImage: x/y\n", "1:1 error missing-key"},
        {"type: lokal\n", "1:7 error wrong-value"},
        {"type: Local\n", "1:7 warning wrong-case"},
        {"type: docker\nNvidiaDocker: true\n", "2:1 error wrong-case"},
        {"type: docker\nnvidiaDoker: true\n", "2:1 error unknown-key"},
        {"type: docker\nfavouriteColour: blue\n", "2:1 warning unknown-key"},
        {"type: docker\nFramework: Python\n", "2:1 error misplaced-key"},
        {"type: docker\nsharedVolumes: \"true\"\n", "2:16 error wrong-type"},
        {"type: docker\nsharedVolumes: maybe\n", "2:16 error wrong-type"},
        {"type: docker\nsharedVolumes: yes\n", "2:16 warning yaml-1.1-boolean"},
        {"type: docker\nsharedVolumes: [true]\n", "2:16 error wrong-type"},
        {"type: docker\nsharedVolumes:\n", ""},
        {"type: docker\nbaseDockerImage: microsoft/mmlspark::plus-0.7.91\n",
         "2:18 error image-double-colon"},
        {"type: docker\nbaseDockerImage: 'mine/image:1  '\n", "2:18 warning trailing-blank"},
        {"type: docker\nbaseDockerImage: my image\n", "2:18 error image-name"},
        {"type: docker\nbaseDockerImage: microsoft/mmlspark:plus-0.9.9\n",
         "2:18 notice image-gone"},
        {"type: docker\nbaseDockerImage: mine/cuda:1\n", "2:18 warning gpu-image-without-flag"},
        {"type: docker\nbaseDockerImage: mine/cuda:1\nnvidiaDocker: false\n",
         "3:15 warning gpu-image-without-flag"},
        {"type: docker\nbaseDockerImage: mine/cuda:1\nnvidiaDocker: true\n", ""},
        {"type: docker\nbaseDockerImage: ubuntu:22.04\nnvidiaDocker: true\n",
         "2:18 warning gpu-flag-without-image"},
        {"type: docker\nbaseDockerImage: python:3.11-slim\nnvidiaDocker: true\n", ""},
        {"type: docker\nnvidiaDocker: true\n", "2:15 warning gpu-flag-without-image"},
        {"type: docker\nbaseDockerImage: someone/own\nnvidiaDocker: true\n", ""},
        {"type: local\nnvidiaDocker: true\n", "2:15 notice unused-key"},
        {"type: remotedocker\naddress:\nusername: u\n", "2:1 warning missing-value"},
        {"type: remotedocker\naddress: <YOUR DSVM IP>\nusername: [username]\n",
         "2:10 warning placeholder\n3:11 error placeholder"},
        {"type: remotedocker\naddress: a\nusername: u\npassword: AzureMlSecret=x\n",
         "4:11 notice secret-gone"},
        {"type: remotedocker\naddress: a\nusername: u\npassword: hunter2\n",
         "4:11 warning secret-in-file"},
        {"type: remotedocker\naddress: a\nusername: u\npassword: secret:host\n", ""},
        {"type: docker\nshmSize: 1g\n", ""},
        {"type: docker\nbuildNetwork: host\n", ""},
        {"type: local\nbuildNetwork: host\n", "2:15 notice unused-key"},
        {"type: docker\nmounts:\n  - /data:/data\n  - /a:/b:ro\n", ""},
        {"type: docker\nmounts: [data:/data]\n", "2:10 error wrong-value"},
        {"type: docker\nmounts:\n  - /data:/data\n  - /data\n", "4:5 error wrong-value"},
        {"type: docker\nmounts:\n  - /data:/x:rwx\n", "3:5 error wrong-value"},
        {"type: docker\nmounts:\n  - /data:/azureml-run/x\n", "3:5 error wrong-value"},
        {"type: docker\nmounts:\n  - /data:/\n", "3:5 error wrong-value"},
        {"type: docker\nmounts:\n  - /data://azureml-run\n", "3:5 error wrong-value"},
        {"type: docker\nmounts: /data:/data\n", "2:9 error wrong-type"},
        {"type: local\nmounts: [/data:/data]\n", "2:9 notice unused-key"},
        {"type: docker\nshmSize: much\n", "2:10 error wrong-value"},
        {"type: local\ngpuGrace: soon\n", "2:11 error wrong-type"},
        {"- a\n- b\n", "1:1 error wrong-type"},
        {"just text\n", "1:1 error wrong-type"},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(remarks(text), expected) << text;
}

TEST(Compute, SuggestsWhatWasMeant)
{
    Report report("aml_config/docker.compute");
    (void)read_compute(tree_of("type: docker\nnvidiaDoker: true\n"), "docker", report);
    ASSERT_EQ(report.diagnostics().size(), 1U);
    EXPECT_EQ(to_text(report.diagnostics()[0]),
              "aml_config/docker.compute:2:1: error: a compute target has no key 'nvidiaDoker' "
              "[unknown-key]");
    EXPECT_EQ(report.diagnostics()[0].hint, "Did you mean 'nvidiaDocker'?");
}

}  // namespace
}  // namespace ponk::config
