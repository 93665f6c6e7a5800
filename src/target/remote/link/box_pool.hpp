// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "target/job/job.hpp"
#include "target/remote/link/box_connection.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace ponk::target::remote {

// Starts `ponk-box serve` on a machine. Called from any thread, for one box by one at a time.
using Connect = std::function<Result<Stream>(
    const BoxAddress& box, Deadline deadline, const std::stop_token& stop)>;

// One connection per machine, made when somebody needs it and shared by all; made anew after it
// broke, but not too often. Any thread may call.
class BoxPool {
public:
    explicit BoxPool(Connect connect) : connect_(std::move(connect)) {}

    // The living connection, or a new one. After a failure the same error comes at once until it
    // is time for the next attempt; `Attempt::now` does not wait for that.
    enum class Attempt { when_due, now };
    Result<std::shared_ptr<BoxConnection>>
    get(const BoxAddress& box, Attempt attempt, const std::stop_token& stop);
    // Since when and why nobody answers there; nullopt when all is well or nobody asked yet.
    [[nodiscard]] std::optional<Outage> outage(const BoxAddress& box);
    // When the machine was last met; empty before.
    [[nodiscard]] std::string boot_of(const BoxAddress& box);
    // Lets the connection go, if there is one.
    void drop(const BoxAddress& box);

private:
    struct Entry {
        std::shared_ptr<BoxConnection> connection;
        bool connecting = false;
        std::optional<Error> failure;
        std::int64_t down_since = 0;  // wall clock, 0: up
        int failures = 0;             // in a row
        Deadline next{};
        std::string boot;
        BoxAddress latest;  // with the agent of who came last
    };
    using Entries = std::map<std::string, Entry>;

    void note_failure(Entry& entry, const Error& error);
    void settle(const std::string& key, const Result<std::shared_ptr<BoxConnection>>& made);
    Result<std::shared_ptr<BoxConnection>> make(const BoxAddress& box, const std::stop_token& stop);

    Connect connect_;
    Synced<Entries> entries_;
    std::condition_variable_any changed_;
};

// "ann@box:5022": for messages, and one box's name in all maps.
std::string name_of(const BoxAddress& box);

}  // namespace ponk::target::remote
