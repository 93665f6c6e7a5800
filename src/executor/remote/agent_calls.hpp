// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/remote/homes_there.hpp"
#include "executor/remote/link/agent_connection.hpp"
#include "executor/remote/remote_executor.hpp"

#include <memory>
#include <optional>
#include <string>

namespace ponk::executor::remote {

// An answer that needs no work worth the name; what takes longer has its own.
constexpr std::chrono::seconds usual_patience{60};

// Files that an executor for other machines keeps in the run directory.
namespace mark {
constexpr const char* no_outputs = "no-outputs";  // the run ended and wrote none
constexpr const char* launched = "launched";      // the host has said that it accepted the run
constexpr const char* rest_there = "rest-there";  // the run ended, and not all it said is here
}  // namespace mark

// Asks the machines of one type of target, and says of which one an error speaks. Any thread may
// call.
class AgentCalls {
public:
    using Answer = AgentConnection::Answer;
    using Request = AgentConnection::Request;

    explicit AgentCalls(const Options& options) : options_(options) {}

    // A question about a run, or about the machine as a target of this type.
    [[nodiscard]] Request about(std::string call, const std::string& job) const;
    [[nodiscard]] Request about(std::string call) const;

    // About the machine; says why there is no connection to it.
    Result<Answer>
    ask(const HostAddress& host, Request request, Deadline deadline, const std::stop_token& stop);
    static Result<Answer> ask(AgentConnection& connection,
                              const HostAddress& host,
                              Request request,
                              Deadline deadline,
                              const std::stop_token& stop);

    // For a run: `unreachable` when there is no connection, whatever the reason.
    Result<std::shared_ptr<AgentConnection>> connect(const HostAddress& host,
                                                     const std::stop_token& stop);
    // The connection to the folder that the run was given to; `unreachable` when there is another
    // one in its place.
    Result<std::shared_ptr<AgentConnection>>
    reach(const RunDirectory& directory, const HostAddress& host, const std::stop_token& stop);
    // The machine answers, but not about this run: its next ponk-agent may.
    void note_missing(const RunDirectory& directory, const HostAddress& host);
    void note_found(const RunDirectory& directory) { homes_.found(directory); }

    // All that the run left is with us: some day the host may forget it. What it does not hear it
    // keeps, and it does not hear it while a part is there alone.
    void tell_fetched(AgentConnection& connection,
                      const std::string& job,
                      const RunDirectory& directory,
                      const std::stop_token& stop);

private:
    const Options& options_;
    HomesThere homes_;
};

// Advice about a disk is of use only to who knows whose it is.
Error of_machine(const Error& error, const HostAddress& host);

}  // namespace ponk::executor::remote
