// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/link/host_pool.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace ponk::executor::remote {

using namespace std::chrono_literals;

namespace {

constexpr auto connect_patience = 60s;
constexpr std::chrono::milliseconds first_pause = 500ms;
constexpr std::chrono::milliseconds longest_pause = 20s;

std::string key_of(const HostAddress& host)
{
    return name_of(host) + "\n" + host.scratch;
}

// Twice as long each time, and never the same for all who lost the same host.
std::chrono::milliseconds pause_after(int failures)
{
    auto pause = first_pause;
    for (int i = 1; i < failures && pause < longest_pause; ++i)
        pause *= 2;
    pause = std::min(pause, longest_pause);
    const auto chance = static_cast<unsigned char>(random_bytes(1)[0]);
    return pause * (128 + chance) / 256;
}

}  // namespace

std::string name_of(const HostAddress& host)
{
    auto name = host.user.empty() ? host.address : host.user + "@" + host.address;
    if (host.port != 0) name += ":" + std::to_string(host.port);
    return printable(name);
}

void HostPool::note_failure(Entry& entry, const Error& error)
{
    entry.failure = error;
    ++entry.failures;
    entry.next = after(pause_after(entry.failures));
}

Result<std::shared_ptr<AgentConnection>>
HostPool::get(const HostAddress& host, Attempt attempt, const std::stop_token& stop)
{
    const auto key = key_of(host);
    std::shared_ptr<AgentConnection> old;  // let go without the lock
    HostAddress target = host;
    {
        auto entries = entries_.lock();
        auto& entry = (*entries)[key];
        changed_.wait(entries.native(), stop, [&] { return !entry.connecting; });
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while connecting");
        if (entry.connection) {
            const auto broken = entry.connection->broken();
            if (!broken) return entry.connection;
            old = std::move(entry.connection);
            entry.connection.reset();
            // The first attempt after a break comes at once.
            entry.failure = broken->within(fmt::format("'{}'", name_of(host)));
            entry.next = Deadline();
        }
        if (attempt == Attempt::when_due && entry.failure && Deadline::clock::now() < entry.next)
            return tl::unexpected(*entry.failure);
        if (!host.agent.empty()) entry.latest.agent = host.agent;
        target.agent = entry.latest.agent;
        entry.connecting = true;
    }
    old.reset();
    auto made = make(target, stop);
    resolve(key, made);
    return made;
}

void HostPool::resolve(const std::string& key, const Result<std::shared_ptr<AgentConnection>>& made)
{
    auto entries = entries_.lock();
    auto& entry = (*entries)[key];
    entry.connecting = false;
    if (made) {
        entry.connection = *made;
        entry.failure.reset();
        entry.failures = 0;
        entry.boot = (*made)->hello().boot;
    } else if (made.error().kind() != ErrorKind::cancelled) {
        note_failure(entry, made.error());
    }
    changed_.notify_all();
}

Result<std::shared_ptr<AgentConnection>> HostPool::make(const HostAddress& host,
                                                        const std::stop_token& stop)
{
    const auto deadline = after(connect_patience);
    const auto doing = [&host](const Error& error) {
        const bool named = error.message().find(host.address) != std::string::npos;
        return named ? error : error.within("'" + name_of(host) + "'");
    };
    auto stream = connect_(host, deadline, stop);
    if (!stream) return tl::unexpected(doing(stream.error()));
    return AgentConnection::open(std::move(*stream), deadline, stop).map_error(doing);
}

std::string HostPool::boot_of(const HostAddress& host)
{
    auto entries = entries_.lock();
    const auto found = entries->find(key_of(host));
    return found == entries->end() ? std::string() : found->second.boot;
}

void HostPool::drop(const HostAddress& host)
{
    std::shared_ptr<AgentConnection> old;
    auto entries = entries_.lock();
    const auto found = entries->find(key_of(host));
    if (found != entries->end()) std::swap(old, found->second.connection);
    entries.native().unlock();
}

}  // namespace ponk::executor::remote
