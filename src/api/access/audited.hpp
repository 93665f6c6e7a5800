// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/access.hpp"
#include "audit/audit_log.hpp"
#include "base/id.hpp"
#include "net/server.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ponk::api {

// What the audit log wants to know of a call (docs/design/audit.md).
enum class Interest {
    none,      // a read like any other
    counted,   // one of many that log the same way
    recorded,  // a line of its own
};
Interest interest_of(const net::Request& request, std::string_view pattern, Permission needed);

// A request on its way through the router, as the audit log sees it. Without a log it does nothing.
// Names what the call is about, never what it carries.
class Audited {
public:
    Audited(audit::AuditLog* log, const net::Request& request);

    // The route that was found, an empty pattern when there is none, and what the path names. All
    // of it has to live as long as this.
    void route(std::string_view prefix,
               std::string_view pattern,
               Permission needed,
               const std::vector<std::string>& values);
    // Who was let in.
    void caller(Caller caller) { caller_ = std::move(caller); }
    [[nodiscard]] const Caller& caller() const { return caller_; }
    // Instead of that: a run's script, whose call came by its relay.
    void run(const RunId& run);

    // On an I/O thread: does not wait.
    void refused(const net::Response& answer);
    void counted();
    // On a worker.
    void answered(const net::Response& answer);
    // A body that is taken as a stream has its answer from there.
    std::unique_ptr<net::BodySink> watch(std::unique_ptr<net::BodySink> sink);

private:
    [[nodiscard]] std::string who() const;
    void describe();
    void name_objects(const net::Response& answer);

    audit::AuditLog* log_;
    const net::Request* request_;
    std::string_view prefix_;
    std::string_view pattern_;
    const std::vector<std::string>* values_ = nullptr;
    Interest interest_ = Interest::none;
    Caller caller_;
    std::string run_;
    audit::Record record_;  // empty until something is noted: most calls are not
};

}  // namespace ponk::api
