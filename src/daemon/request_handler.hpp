// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/http/services.hpp"
#include "base/synced.hpp"
#include "daemon/home_watch.hpp"
#include "net/server.hpp"
#include "os/wait.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace ponk::daemon {

// Where requests come in. Nothing is done for a home that is gone, or with a database that is
// damaged: then it rings `stop`, and says why to `tell`. Any thread may call.
class RequestHandler {
public:
    RequestHandler(const api::Services& services,
                   const HomeWatch& home,
                   const os::Bell& stop,
                   std::function<void(const std::string&)> tell);

    net::Handlers handlers();

private:
    net::Reception receive(const net::Request& head);
    net::Response answer(const net::Request& request);
    net::Response unless_damaged(net::Response response);

    const api::Services& services_;
    const HomeWatch& home_;
    const os::Bell& stop_;
    std::function<void(const std::string&)> tell_;
    std::atomic<bool> closed_{false};
};

// Who answers calls that runs pass on: there from when the services are until they go, while runs
// are watched before and after. Any thread may call.
class RunRequestHandler {
public:
    void open(std::shared_ptr<const api::Services> services);
    void close();
    std::string answer(const RunId& run, const Json& ask);

private:
    Synced<std::shared_ptr<const api::Services>> services_;
};

}  // namespace ponk::daemon
