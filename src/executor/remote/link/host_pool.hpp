// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/job/job.hpp"
#include "executor/remote/link/agent_connection.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ponk::executor::remote {

// Starts `ponk-agent serve` on a machine. Called from any thread, for one host by one at a time.
using Connect = std::function<Result<Stream>(
    const HostAddress& host, Deadline deadline, const std::stop_token& stop)>;

// One connection per machine, made when somebody needs it and shared by all; created again after it
// broke, but not too often. Any thread may call.
class HostPool {
public:
    explicit HostPool(Connect connect) : connect_(std::move(connect)) {}

    // The living connection, or a new one. After a failure the same error comes at once until it
    // is time for the next attempt; `Attempt::now` does not wait for that.
    enum class Attempt { when_due, now };
    Result<std::shared_ptr<AgentConnection>>
    get(const HostAddress& host, Attempt attempt, const std::stop_token& stop);
    // When the machine was last met; empty before.
    [[nodiscard]] std::string boot_of(const HostAddress& host);
    // Lets the connection go, if there is one.
    void drop(const HostAddress& host);

private:
    struct Entry {
        std::shared_ptr<AgentConnection> connection;
        bool connecting = false;
        std::optional<Error> failure;
        int failures = 0;  // in a row
        Deadline next{};
        std::string boot;
        HostAddress latest;  // with the agent of who came last
    };
    using Entries = std::map<std::string, Entry>;

    void note_failure(Entry& entry, const Error& error);
    void resolve(const std::string& key, const Result<std::shared_ptr<AgentConnection>>& made);
    Result<std::shared_ptr<AgentConnection>> make(const HostAddress& host,
                                                  const std::stop_token& stop);

    Connect connect_;
    Synced<Entries> entries_;
    std::condition_variable_any changed_;
};

// "ann@gpu1:5022": for messages, and one host's name in all maps.
std::string name_of(const HostAddress& host);

}  // namespace ponk::executor::remote
