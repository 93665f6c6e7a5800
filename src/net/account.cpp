// SPDX-License-Identifier: Apache-2.0
#include "net/account.hpp"

#include <algorithm>

namespace ponk::net {

namespace {

// There are few tokens; addresses come and go.
constexpr std::size_t remembered = 1024;

// Of the time of I/O threads: what wears off, one nanosecond in so many; what is free; and how long
// a connection waits at most before it looks again.
constexpr std::int64_t io_leaks = 2;
constexpr std::int64_t free_io = 50'000'000;
constexpr std::chrono::milliseconds longest_pause{100};

std::int64_t left_of(std::int64_t cost, std::chrono::nanoseconds since)
{
    return std::max<std::int64_t>(0, cost - since.count() / io_leaks);
}

}  // namespace

void IoShare::charge(std::int64_t cost, Clock::time_point now)
{
    const auto load = load_.lock();
    load->cost = left_of(load->cost, now - load->at) + cost;
    load->at = now;
}

std::chrono::milliseconds IoShare::pause(Clock::time_point now)
{
    const auto load = load_.lock();
    const auto surplus = left_of(load->cost, now - load->at) - free_io;
    if (surplus <= 0) return {};
    return std::min(
        longest_pause,
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(surplus * io_leaks)));
}

std::shared_ptr<Account> Accounts::find(const std::string& name)
{
    const auto known = known_.lock();
    if (const auto found = known->find(name); found != known->end()) return found->second;
    if (known->size() >= remembered)
        std::erase_if(*known, [](const auto& entry) { return entry.second.use_count() == 1; });
    auto client =
        std::make_shared<Account>(name.empty() ? Account::Kind::owner : Account::Kind::guest);
    known->emplace(name, client);
    return client;
}

}  // namespace ponk::net
