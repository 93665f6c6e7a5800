// SPDX-License-Identifier: Apache-2.0
#include "api/http/live_sockets.hpp"

namespace ponk::api {

std::unique_ptr<LiveSockets::Place> LiveSockets::enter(const std::string& client)
{
    {
        const auto open = open_.lock();
        auto& count = (*open)[client];
        if (count >= options.sockets) return nullptr;
        ++count;
    }
    return std::make_unique<Place>(shared_from_this(), client);
}

void LiveSockets::leave(const std::string& client)
{
    const auto open = open_.lock();
    const auto found = open->find(client);
    if (found != open->end() && --found->second == 0) open->erase(found);
}

}  // namespace ponk::api
