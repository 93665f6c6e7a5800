// SPDX-License-Identifier: Apache-2.0
#include "net/connection_table.hpp"

namespace ponk::net {

bool ConnectionTable::enter(const std::string& peer)
{
    std::shared_ptr<CountedConnection> asked;
    {
        const std::lock_guard lock(mutex_);
        const auto known = by_peer_.find(peer);
        const bool crowd = !peer.empty() && known != by_peer_.end() && known->second >= peer_limit_;
        if (crowd && !ask_longest_waiting(&peer, asked)) return false;
        if (!crowd && count_ >= limit_ && !ask_longest_waiting(nullptr, asked)) return false;
        ++count_;
        if (!peer.empty()) ++by_peer_[peer];
    }
    if (asked) asked->give_way();
    return true;
}

bool ConnectionTable::ask_longest_waiting(const std::string* peer,
                                          std::shared_ptr<CountedConnection>& asked)
{
    for (auto& waiting : row_) {
        if (waiting.asked || (peer != nullptr && waiting.peer != *peer)) continue;
        asked = waiting.guest.lock();
        if (!asked) continue;
        waiting.asked = true;
        return true;
    }
    return false;
}

void ConnectionTable::leave(const std::string& peer)
{
    const std::lock_guard lock(mutex_);
    --count_;
    const auto known = by_peer_.find(peer);
    if (known != by_peer_.end() && --known->second == 0) by_peer_.erase(known);
}

std::size_t ConnectionTable::count() const
{
    const std::lock_guard lock(mutex_);
    return count_;
}

void ConnectionTable::wait(Place& place)
{
    const std::lock_guard lock(mutex_);
    place.front().asked = false;
    row_.splice(row_.end(), place);
}

void ConnectionTable::stop_waiting(Place& place, Place::iterator at)
{
    const std::lock_guard lock(mutex_);
    place.splice(place.begin(), row_, at);
}

}  // namespace ponk::net
