// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/remote_environments.hpp"

#include "executor/remote/host_file.hpp"
#include "executor/remote/link/host_pool.hpp"
#include "executor/remote/wire/message.hpp"
#include "ssh/host_folder.hpp"

namespace ponk::executor::remote {

using namespace std::chrono_literals;

namespace {

std::string told(const Error& error)
{
    return error.hint().empty() ? error.message()
                                : fmt::format("{} ({})", error.message(), error.hint());
}

}  // namespace

bool RemoteEnvironments::was_given_up(const HostAddress& host, const Error& error) const
{
    if (error.kind() != ErrorKind::conflict) return false;
    auto address = ssh::parse_address(host.address, host.user);
    if (!address) return false;
    if (host.port != 0) address->port = host.port;
    const auto settings = ssh::HostFolder(options_.home, *address).read_settings();
    if (!settings || *settings) return false;
    forget_host(options_.home, options_.type, host);
    return true;
}

Result<HostAddress> RemoteEnvironments::host_named(const std::string& machine) const
{
    for (auto& host : known_hosts(options_.home, options_.type)) {
        if (name_of(host) == machine) return host;
    }
    return fail(ErrorKind::not_found, "no machine '{}' is known", machine);
}

Result<EnvironmentList> RemoteEnvironments::list(const std::stop_token& stop)
{
    EnvironmentList all;
    for (const auto& host : known_hosts(options_.home, options_.type)) {
        const auto answer =
            calls_.ask(host, calls_.about("environments"), after(usual_patience), stop);
        auto list = answer ? parse_environment_list(shown_texts(answer->head["environments"]))
                           : Result<EnvironmentList>(tl::unexpected(answer.error()));
        if (!list) {
            if (!was_given_up(host, list.error())) all.problems.push_back(told(list.error()));
            continue;
        }
        for (auto& entry : list->entries) {
            entry.machine = name_of(host);
            all.entries.push_back(std::move(entry));
        }
        all.problems.insert(all.problems.end(), list->problems.begin(), list->problems.end());
    }
    return all;
}

Result<std::string> RemoteEnvironments::lock(const std::string& machine,
                                             const std::string& id,
                                             const std::stop_token& stop)
{
    auto request = calls_.about("environment-lock");
    request.head.set("id", id);
    return TRY(calls_.ask(
                   TRY(host_named(machine)), std::move(request), after(usual_patience), stop))
        .head.text("lock");
}

Result<EnvironmentRemoval> RemoteEnvironments::remove(const std::string& machine,
                                                      const std::string& id,
                                                      const std::stop_token& stop)
{
    auto request = calls_.about("remove-environment");
    request.head.set("id", id);
    const auto answer =
        TRY(calls_.ask(TRY(host_named(machine)), std::move(request), after(5min), stop));
    return parse_environment_removal(shown_texts(answer.head["removal"]));
}

Result<EnvironmentGarbage> RemoteEnvironments::collect_garbage(const EnvironmentRules& rules,
                                                               const std::stop_token& stop)
{
    EnvironmentGarbage all;
    for (const auto& host : known_hosts(options_.home, options_.type)) {
        auto request = calls_.about("collect-environments");
        request.head.set("rules", to_json(rules));
        const auto answer = calls_.ask(host, std::move(request), after(10min), stop);
        auto garbage = answer ? parse_environment_garbage(shown_texts(answer->head["garbage"]))
                              : Result<EnvironmentGarbage>(tl::unexpected(answer.error()));
        if (!garbage) {
            if (!was_given_up(host, garbage.error())) all.problems.push_back(told(garbage.error()));
            continue;
        }
        all.freed += garbage->freed;
        for (auto& entry : garbage->removed) {
            entry.machine = name_of(host);
            all.removed.push_back(std::move(entry));
        }
        for (const auto& problem : garbage->problems)
            all.problems.push_back(fmt::format("'{}': {}", name_of(host), problem));
    }
    return all;
}

}  // namespace ponk::executor::remote
