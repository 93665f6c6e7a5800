// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/agent_calls.hpp"

#include "base/text.hpp"
#include "executor/remote/link/host_pool.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/file.hpp"

#include <cerrno>

namespace ponk::executor::remote {

namespace {

Error not_reached(const Error& error)
{
    return error.kind() == ErrorKind::cancelled ? error : error.of_kind(ErrorKind::unreachable);
}

}  // namespace

AgentCalls::Request AgentCalls::about(std::string call, const std::string& job) const
{
    return {.call = std::move(call), .head = {{"type", options_.type}, {"run", job}}};
}

AgentCalls::Request AgentCalls::about(std::string call) const
{
    return {.call = std::move(call), .head = {{"type", options_.type}}};
}

Result<std::shared_ptr<AgentConnection>> AgentCalls::connect(const HostAddress& host,
                                                             const std::stop_token& stop)
{
    return options_.hosts->get(host, HostPool::Attempt::when_due, stop).map_error(not_reached);
}

Result<AgentCalls::Answer> AgentCalls::ask(const HostAddress& host,
                                           Request request,
                                           Deadline deadline,
                                           const std::stop_token& stop)
{
    const auto connection = TRY(options_.hosts->get(host, HostPool::Attempt::when_due, stop));
    return ask(*connection, host, std::move(request), deadline, stop);
}

Result<AgentCalls::Answer> AgentCalls::ask(AgentConnection& connection,
                                           const HostAddress& host,
                                           Request request,
                                           Deadline deadline,
                                           const std::stop_token& stop)
{
    return connection.call(std::move(request), deadline, stop).map_error([&](const Error& error) {
        const auto named = error.within("'" + name_of(host) + "'");
        if (connection.broken()) return not_reached(named);
        return error.kind() == ErrorKind::unreachable ? named : of_machine(error, host);
    });
}

Result<std::shared_ptr<AgentConnection>> AgentCalls::reach(const RunDirectory& directory,
                                                           const HostAddress& host,
                                                           const std::stop_token& stop)
{
    auto connection = TRY(connect(host, stop));
    const auto given = os::read_file(directory.task() / mark::launched, 4096);
    if (!given || trim(*given).empty() || trim(*given) == connection->hello().identity)
        return connection;
    note_missing(directory, host);
    return fail(ErrorKind::unreachable,
                "'{}': ponk's folder '{}' there is not the one that has the run: check that its "
                "disk is mounted",
                name_of(host),
                printable(connection->hello().home));
}

void AgentCalls::note_missing(const RunDirectory& directory, const HostAddress& host)
{
    if (homes_.missing(directory)) options_.hosts->drop(host);
}

void AgentCalls::tell_fetched(AgentConnection& connection,
                              const std::string& job,
                              const RunDirectory& directory,
                              const std::stop_token& stop)
{
    if (is_there(directory.task() / mark::rest_there)) return;
    static_cast<void>(connection.call(about("collected", job), after(usual_patience), stop));
}

Error of_machine(const Error& error, const HostAddress& host)
{
    for (const int problem : {ENOSPC, EDQUOT, EROFS}) {
        if (error.hint().empty() || error.hint() != system_error(problem, "").hint()) continue;
        return error.within("'" + name_of(host) + "'")
            .with_hint(fmt::format("On '{}': {}", name_of(host), error.hint()));
    }
    return error;
}

}  // namespace ponk::executor::remote
