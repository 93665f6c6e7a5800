// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/access.hpp"
#include "api/access/endpoints.hpp"
#include "api/access/sessions.hpp"
#include "api/access/tokens.hpp"
#include "api/http/live_sockets.hpp"
#include "api/http/log_marks.hpp"
#include "api/http/prompts.hpp"
#include "audit/audit_log.hpp"
#include "engine/engine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ponk::api {

class Imports;

// The files of the page that browsers show; webui/ has them.
class Page {
public:
    virtual ~Page() = default;
    // `path` as it was asked for, "" for the page itself. `not_found` when there is no such file,
    // `unavailable` when this program was built without a page.
    [[nodiscard]] virtual Result<net::Response> answer(const net::Request& request,
                                                       std::string_view path) const = 0;
    // Why there is no page; empty: there is one.
    [[nodiscard]] virtual std::string missing() const = 0;
};

// What the handlers work with; daemon/ makes it and outlives the server.
struct Services {
    engine::Engine& engine;
    std::string socket;
    std::int64_t started = 0;  // wall-clock milliseconds
    // Asks the daemon to end; runs go on.
    std::function<void(const std::string& reason)> stop;
    Tokens* tokens = nullptr;          // none: nobody comes in but by the Unix socket
    Endpoints* endpoints = nullptr;    // none: there is no other listener
    Imports* imports = nullptr;        // none: it takes none
    audit::AuditLog* audit = nullptr;  // none: nothing is noted
    Sessions* sessions = nullptr;      // none: there is no page
    LoginCodes* codes = nullptr;
    const SignedAddresses* addresses = nullptr;
    // The page, and why there is none.
    const Page* page = nullptr;
    std::shared_ptr<LogMarks> log_marks = std::make_shared<LogMarks>();
    std::shared_ptr<LiveSockets> live = std::make_shared<LiveSockets>();
    std::shared_ptr<Prompts> prompts = std::make_shared<Prompts>();

    [[nodiscard]] Known known() const { return {tokens, sessions, addresses}; }
    [[nodiscard]] const engine::Context& context() const { return engine.context(); }
    [[nodiscard]] store::History& history() const { return engine.context().history; }
};

}  // namespace ponk::api
