// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ponk::net {

// A connection as the counting of connections sees it.
class CountedConnection {
public:
    virtual ~CountedConnection() = default;
    // Asked to close because there is no room for a newcomer; from any thread.
    virtual void give_way() = 0;
    // A WebSocket is told that the server ends; from any thread.
    virtual void say_goodbye() {}
};

// Who is connected, and who of them waits for a next request. Safe for several threads.
class ConnectionTable {
public:
    ConnectionTable(std::size_t limit, std::size_t peer_limit)
        : limit_(limit), peer_limit_(peer_limit)
    {
    }

    // Counts a newcomer in; `peer` is empty where addresses do not count. Without room the one that
    // waits longest is asked to go; false when nobody waits.
    bool enter(const std::string& peer);
    void leave(const std::string& peer);
    [[nodiscard]] std::size_t count() const;

    struct Waiting {
        std::weak_ptr<CountedConnection> guest;
        std::string peer;
        bool asked = false;
    };
    // A guest's own place: in the row while it waits, else in its own hands.
    using Place = std::list<Waiting>;
    void wait(Place& place);
    void stop_waiting(Place& place, Place::iterator at);

private:
    bool ask_longest_waiting(const std::string* peer, std::shared_ptr<CountedConnection>& asked);

    std::size_t limit_;
    std::size_t peer_limit_;
    mutable std::mutex mutex_;
    std::size_t count_ = 0;
    std::map<std::string, std::size_t> by_peer_;
    Place row_;  // the longest waiting first
};

}  // namespace ponk::net
