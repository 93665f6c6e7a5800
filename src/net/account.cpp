// SPDX-License-Identifier: Apache-2.0
#include "net/account.hpp"

namespace ponk::net {

namespace {

// There are few tokens; addresses come and go.
constexpr std::size_t remembered = 1024;

}  // namespace

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
