// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"

namespace ponk {
namespace {

thread_local const WorkBudget* current = nullptr;

}  // namespace

Result<> WorkBudget::check() const
{
    if (abandoned()) return fail(ErrorKind::cancelled, "the client has closed its connection");
    if (Clock::now() > deadline_) {
        return tl::unexpected(Error(ErrorKind::timeout,
                                    "the request takes longer than one request may",
                                    "Ask for less: a narrower filter, fewer keys, a smaller page."));
    }
    return {};
}

WorkScope::WorkScope(const WorkBudget* budget) noexcept : before_(current)
{
    current = budget;
}

WorkScope::~WorkScope()
{
    current = before_;
}

Result<> check_work()
{
    return current == nullptr ? Result<>() : current->check();
}

bool work_is_over() noexcept
{
    return current != nullptr && !current->check();
}

}  // namespace ponk
