// SPDX-License-Identifier: Apache-2.0
#include "target/remote/box_calls.hpp"

#include "base/text.hpp"
#include "os/file.hpp"
#include "target/remote/link/box_pool.hpp"
#include "target/run_directory/control_directory.hpp"

#include <cerrno>

namespace ponk::target::remote {

BoxCalls::Request BoxCalls::about(std::string call, const std::string& job) const
{
    return {.call = std::move(call), .head = {{"type", options_.type}, {"run", job}}};
}

BoxCalls::Request BoxCalls::about(std::string call) const
{
    return {.call = std::move(call), .head = {{"type", options_.type}}};
}

Result<BoxCalls::Answer> BoxCalls::ask(const BoxAddress& box,
                                       Request request,
                                       Deadline deadline,
                                       const std::stop_token& stop)
{
    const auto connection = TRY(options_.boxes->get(box, BoxPool::Attempt::when_due, stop));
    return ask(*connection, box, std::move(request), deadline, stop);
}

Result<BoxCalls::Answer> BoxCalls::ask(BoxConnection& connection,
                                       const BoxAddress& box,
                                       Request request,
                                       Deadline deadline,
                                       const std::stop_token& stop)
{
    return connection.call(std::move(request), deadline, stop).map_error([&](const Error& error) {
        return connection.broken() ? error.within("'" + name_of(box) + "'")
                                   : of_machine(error, box);
    });
}

Result<std::shared_ptr<BoxConnection>>
BoxCalls::reach(const Path& directory, const BoxAddress& box, const std::stop_token& stop)
{
    auto connection = TRY(options_.boxes->get(box, BoxPool::Attempt::when_due, stop));
    const auto given = os::read_file(directory / mark::launched, 4096);
    if (!given || trim(*given).empty() || trim(*given) == connection->hello().identity)
        return connection;
    const auto reason =
        fmt::format("'{}': ponk's folder '{}' there is another one than the run was given to: "
                    "is its disk mounted?",
                    name_of(box),
                    printable(connection->hello().home));
    note_missing(directory, box, reason);
    return fail(ErrorKind::unavailable, "{}", reason);
}

void BoxCalls::note_missing(const Path& directory, const BoxAddress& box, const std::string& reason)
{
    // A ponk-box that is started anew looks again.
    if (homes_.missing(directory, reason)) options_.boxes->drop(box);
}

void BoxCalls::tell_fetched(BoxConnection& connection,
                            const std::string& job,
                            const Path& directory,
                            const std::stop_token& stop)
{
    if (is_there(directory / mark::rest_there)) return;
    static_cast<void>(connection.call(about("collected", job), after(usual_patience), stop));
}

std::optional<Outage> BoxCalls::outage(const Path& directory, const BoxAddress& box) const
{
    if (const auto outage = options_.boxes->outage(box)) return outage;
    return homes_.outage(directory);
}

Error of_machine(const Error& error, const BoxAddress& box)
{
    for (const int problem : {ENOSPC, EDQUOT, EROFS}) {
        if (error.hint().empty() || error.hint() != system_error(problem, "").hint()) continue;
        return error.within("'" + name_of(box) + "'")
            .with_hint(fmt::format("On '{}': {}", name_of(box), error.hint()));
    }
    return error;
}

}  // namespace ponk::target::remote
