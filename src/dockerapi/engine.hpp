// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "net/http_client.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::dockerapi {

using os::Path;

struct Version {
    std::string engine;  // "20.10.24"
    std::string api;     // "1.41", the newest it speaks
    std::string os;
    std::string architecture;  // "amd64"
    std::string kernel;
    bool podman = false;
};

struct Info {
    std::string id;
    std::string root_directory;
    std::string storage_driver;
    std::string operating_system;
    std::string cgroup_version;
    std::string default_runtime;
    std::vector<std::string> runtimes;
    std::vector<std::string> cdi_directories;
    std::int64_t memory = 0;
    std::int64_t processors = 0;
    bool limits_memory = false;  // whether it can, for a container
    bool live_restore = false;
    bool rootless = false;
    std::vector<std::string> warnings;
};

// A container engine that speaks Docker's Engine API 1.41 or newer on a Unix socket. It holds no
// connection, so it may be used from any thread and survives restarts of the engine.
//
// Errors: `unreachable` when nobody answers; `unavailable` when the engine fails by itself;
// `not_found`, `conflict` and `invalid_argument` as it says.
class Engine {
public:
    static constexpr const char* oldest_api = "1.41";

    // Asks the engine for its version; nothing older than 1.41 is accepted.
    static Result<Engine> connect(Path socket, Deadline deadline, std::stop_token stop = {});

    [[nodiscard]] const Version& version() const noexcept { return version_; }
    [[nodiscard]] const Path& socket() const noexcept { return socket_; }

    Result<Info> info(Deadline deadline, std::stop_token stop = {}) const;

    // For the typed calls beside this file. `target` comes without the version.
    Result<Json> json(const std::string& method,
                      const std::string& target,
                      const Json& body,
                      Deadline deadline,
                      std::stop_token stop = {}) const;
    Result<net::Reply> exchange(net::Call call,
                                const net::Sink& sink,
                                const net::Limit& limit,
                                std::stop_token stop) const;

private:
    Engine(Path socket, Version version);

    Path socket_;
    Version version_;
    std::string prefix_;  // "/v1.41"
};

// The texts of a JSON list; none for anything else.
std::vector<std::string> texts_of(const Json& list);
// A value inside a request's target: everything but letters, digits and "-._~" becomes %XX.
std::string url_part(std::string_view text);

}  // namespace ponk::dockerapi
