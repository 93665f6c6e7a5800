// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"

#include <optional>
#include <utility>

namespace ponk::dockerapi {

struct Mount {
    enum class Access { read_write, read_only };
    std::string source;  // on the engine's machine
    std::string target;
    Access access = Access::read_write;
};

struct ContainerSpec {
    std::string name;
    std::string image;
    std::vector<std::string> command;  // replaces the image's entry point and command
    std::vector<std::string> environment;
    std::string user;       // "1000:1000"; empty: the image's
    std::string directory;  // where it starts
    std::string network;    // "host", "none", a network's name; empty: the engine's default
    std::string runtime;    // empty: the engine's default
    std::vector<std::pair<std::string, std::string>> labels;
    std::vector<Mount> mounts;
    std::int64_t shared_memory = 0;  // bytes for /dev/shm; 0: the engine's default
    std::int64_t memory = 0;         // bytes; 0: no limit
    std::int64_t process_limit = 0;  // 0: none
    // Members of the API's HostConfig beside the ones above (devices, device requests, limits that
    // a user asked for).
    JsonObject host_settings;
};

struct Container {
    std::string id;
    std::string image;   // id of the image
    std::string status;  // created, running, paused, restarting, removing, exited, dead
    bool running = false;
    bool oom_killed = false;
    int exit_code = 0;
    std::int64_t process = 0;  // pid of its first process, as the engine's machine sees it
    std::string error;
    std::string started;
    std::string finished;
    std::vector<std::pair<std::string, std::string>> labels;

    [[nodiscard]] std::string label(std::string_view name) const;
    // It ran, and does not any more.
    [[nodiscard]] bool is_over() const
    {
        return status == "exited" || status == "dead" || status == "removing";
    }
};

// What the engine says of a container; absent parts are empty.
Container container_of(const Json& answer);

// Returns its id; `conflict` when the name is taken, `not_found` when the image is not there.
Result<std::string> create_container(const Engine& engine,
                                     const ContainerSpec& spec,
                                     Deadline deadline,
                                     std::stop_token stop);
Result<std::optional<Container>> find_container(const Engine& engine,
                                                const std::string& name,
                                                Deadline deadline,
                                                std::stop_token stop);
// Starts a container that was never started. One that ended would be started again: the caller
// looks first.
Result<> start_container(const Engine& engine,
                         const std::string& name,
                         Deadline deadline,
                         std::stop_token stop);
// A container that does not run is not an error.
Result<> signal_container(const Engine& engine,
                          const std::string& name,
                          const std::string& signal,
                          Deadline deadline);
// Kills it when it runs. One that is gone is not an error.
Result<> remove_container(const Engine& engine, const std::string& name, Deadline deadline);
// Names of all containers that carry the label "NAME" or "NAME=VALUE".
Result<std::vector<std::string>> list_containers(const Engine& engine,
                                                 const std::string& label,
                                                 Deadline deadline,
                                                 std::stop_token stop);

// Names of the containers made of an image that run, or were made and have not begun yet.
Result<std::vector<std::string>> living_containers_of(const Engine& engine,
                                                      const std::string& image,
                                                      Deadline deadline,
                                                      std::stop_token stop);
// Of all that are made of it; those that ended keep its layers, too.
Result<std::vector<std::string>> containers_of(const Engine& engine,
                                               const std::string& image,
                                               Deadline deadline,
                                               std::stop_token stop);

// The engine frames each piece of a log: one byte that tells the stream, three zeros, four of
// length. A piece that is cut short is given as far as it goes.
std::string without_frames(std::string_view bytes);
// The end of what its processes wrote to the engine's log.
Result<std::string> tail_of_log(const Engine& engine,
                                const std::string& name,
                                int lines,
                                Deadline deadline,
                                std::stop_token stop);

// Paths that a container added to its image or changed there, of any kind. `unavailable` when they
// are more than anybody wants to hear.
Result<std::vector<std::string>> changed_paths(const Engine& engine,
                                               const std::string& name,
                                               Deadline deadline,
                                               std::stop_token stop);

// Unpacks a tar stream below `folder`; only for containers that do not run (while one runs, it
// could swap a folder for a link under the engine's feet).
Result<> copy_in(const Engine& engine,
                 const std::string& name,
                 const std::string& folder,
                 std::function<Result<>(std::string& out)> source,
                 std::stop_token stop);
// The tar stream of `path`; `not_found` when it is not there. Only for containers that ended.
Result<> copy_out(const Engine& engine,
                  const std::string& name,
                  const std::string& path,
                  const net::Sink& sink,
                  std::stop_token stop);

}  // namespace ponk::dockerapi
