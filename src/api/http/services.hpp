// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/endpoints.hpp"
#include "api/access/tokens.hpp"
#include "api/http/log_marks.hpp"
#include "audit/audit_log.hpp"
#include "engine/engine.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ponk::api {

class Imports;

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
    std::shared_ptr<LogMarks> log_marks = std::make_shared<LogMarks>();

    [[nodiscard]] const engine::Context& context() const { return engine.context(); }
    [[nodiscard]] store::History& history() const { return engine.context().history; }
};

}  // namespace ponk::api
