// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace ponk::api {

// What holds for the sockets of pages (docs/design/live.md), and how many each client has. Safe for
// several threads.
class LiveSockets : public std::enable_shared_from_this<LiveSockets> {
public:
    struct Options {
        // Within which a socket says whose it is.
        std::chrono::milliseconds hello_limit{5'000};
        // How often it is asked whether the session still counts.
        std::chrono::milliseconds session_interval{2'000};
        // How often a subject is looked at although nothing was heard of it.
        std::chrono::milliseconds look_interval{10'000};
        // Between two messages about one run; about the list of runs; and about that where only
        // numbers have changed.
        std::chrono::milliseconds run_interval{500};
        std::chrono::milliseconds list_interval{500};
        std::chrono::milliseconds points_interval{2'000};
        std::size_t sockets = 64;   // of one client
        std::size_t subjects = 64;  // of one socket
    };
    Options options = {};

    // Counts a socket for as long as it lives.
    class Place {
    public:
        Place(std::shared_ptr<LiveSockets> of, std::string client)
            : of_(std::move(of)), client_(std::move(client))
        {
        }
        ~Place() { of_->leave(client_); }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;

    private:
        std::shared_ptr<LiveSockets> of_;
        std::string client_;
    };
    // Null when the client has as many as it may.
    std::unique_ptr<Place> enter(const std::string& client);

private:
    void leave(const std::string& client);

    Synced<std::map<std::string, std::size_t>> open_;
};

}  // namespace ponk::api
