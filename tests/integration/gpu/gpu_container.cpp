// SPDX-License-Identifier: Apache-2.0
// Runs a command in a container with GPUs, as a program for tests and for trying a machine: a
// request in JSON on standard input, the answer in JSON on standard output.
//   {"socket": "/var/run/docker.sock", "image": "…", "command": ["…"], "devices": [Device…],
//    "driver_version": "580.65.06", "network": "host", "root": "/", "mounts": ["/data"]}
#include "dockerapi/image.hpp"
#include "gpu/container/container_way.hpp"
#include "os/wait.hpp"

#include <iostream>
#include <iterator>
#include <unistd.h>

namespace ponk::gpu {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> own_environment()
{
    std::vector<std::string> words;
    for (char** word = ::environ; *word != nullptr; ++word)
        words.emplace_back(*word);
    return words;
}

Result<dockerapi::Container> run_to_the_end(const dockerapi::Engine& engine,
                                            const dockerapi::ContainerSpec& spec)
{
    TRY(dockerapi::create_container(engine, spec, after(1min), {}));
    TRY(dockerapi::start_container(engine, spec.name, after(1min), {}));
    for (const auto deadline = after(5min); std::chrono::steady_clock::now() < deadline;) {
        const auto found = TRY(dockerapi::find_container(engine, spec.name, after(1min), {}));
        if (found && !found->running && found->status != "created") return *found;
        os::sleep_for(50ms, {});
    }
    return fail(ErrorKind::timeout, "the container does not end");
}

Result<Json> answer(const Json& request)
{
    const auto engine = TRY(dockerapi::Engine::connect(request.text("socket"), after(30s)));
    ContainerQuestion question{.devices = {},
                               .engine = engine.version(),
                               .info = TRY(engine.info(after(30s))),
                               .search = {.root = request.text("root", "/"),
                                          .driver_version = request.text("driver_version"),
                                          .ask = ask_programs_of(own_environment())}};
    for (const auto& device : request["devices"].as_array())
        question.devices.push_back(TRY(device_from(device)));
    const auto gpus = TRY(choose_container_way(question));
    dockerapi::ContainerSpec spec{.name = "ponk-gpu-" + std::to_string(::getpid()),
                                  .image = request.text("image"),
                                  .command = dockerapi::texts_of(request["command"]),
                                  .user = request.text("user"),
                                  .network = request.text("network", "none")};
    for (const auto& folder : dockerapi::texts_of(request["mounts"]))
        spec.mounts.push_back({folder, folder, dockerapi::Mount::Access::read_only});
    const auto image = TRY(dockerapi::find_image(engine, spec.image, after(30s), {}));
    add_gpus(gpus, image ? image->environment : std::vector<std::string>(), spec);
    const auto ended = run_to_the_end(engine, spec);
    const auto log = dockerapi::tail_of_log(engine, spec.name, 50, after(30s), {});
    (void)dockerapi::remove_container(engine, spec.name, after(1min));
    if (!ended) return tl::unexpected(ended.error());
    auto told = to_json(gpus);
    told.as_object().set("exit", ended->exit_code);
    told.as_object().set("log", log.value_or(""));
    return told;
}

}  // namespace
}  // namespace ponk::gpu

int main()
{
    const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
    const auto request = ponk::parse_json(text);
    if (!request || !(*request)["devices"].is_array()) {
        std::cerr << "gpu_container: no request on standard input\n";
        return 2;
    }
    const auto done = ponk::gpu::answer(*request);
    if (!done) {
        std::cerr << done.error().message() << "\n" << done.error().hint() << "\n";
        return 1;
    }
    std::cout << ponk::to_json(*done, ponk::JsonStyle::pretty) << "\n";
    return 0;
}
