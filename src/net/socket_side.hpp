// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/work_budget.hpp"
#include "net/frames.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

// Inside net/ only.
namespace ponk::net {

// What is said on a WebSocket. A worker that has its turn keeps it alive, and the strand leaves it
// alone.
struct Speech {
    explicit Speech(std::unique_ptr<Dialogue> of) : dialogue(std::move(of)) {}

    // On a worker.
    void take_turn();

    std::unique_ptr<Dialogue> dialogue;
    WorkBudget budget = {};
    std::optional<std::string> heard = {};  // to be taken
    std::string said = {};
    Dialogue::Step step = Dialogue::Step::waiting;
};

// A connection that speaks as a WebSocket, as the strand sees it.
struct SocketSide {
    using Clock = std::chrono::steady_clock;

    SocketSide(std::unique_ptr<Dialogue> dialogue, std::size_t longest)
        : speech(std::make_shared<Speech>(std::move(dialogue))), frames(longest)
    {
    }

    std::shared_ptr<Speech> speech;
    FrameReader frames;
    std::optional<std::string> heard = {};  // waits for the next turn
    std::string to_send = {};               // a message, framed
    std::optional<std::string> pong = {};   // to the last ping
    std::string closing = {};               // framed, until it is sent
    bool ping = false;                      // is to be sent
    bool busy = false;                      // a worker has the speech
    bool writing = false;
    bool rung = false;     // while it was busy or written
    bool holding = false;  // a message was not taken yet: no more is read
    bool ended = false;    // nothing more is said but the close
    bool left = false;     // the client has closed it
    bool deaf = false;     // what it sends is no WebSocket any more
    Clock::time_point heard_at = Clock::now();
    Clock::time_point ping_at = {};
    Clock::time_point look_at = Clock::time_point::max();
    Clock::time_point written_by = Clock::time_point::max();
    Clock::time_point closed_by = Clock::time_point::max();
};

}  // namespace ponk::net
