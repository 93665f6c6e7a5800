// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk {
namespace {

thread_local const WorkBudget* current = nullptr;

}  // namespace

Result<> WorkBudget::check() const
{
    if (abandoned()) return fail(ErrorKind::cancelled, "the client has closed its connection");
    if (Clock::now() > deadline_.load(std::memory_order_relaxed)) {
        return tl::unexpected(
            Error(ErrorKind::timeout,
                  "the request takes too long",
                  "Ask for less: a narrower filter, fewer keys, a smaller page."));
    }
    return {};
}

Result<> WorkBudget::charge_answer(std::size_t bytes) const
{
    const auto total = answer_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (total <= answer_limit_) {
        if (meter_ == nullptr || meter_->hold(total)) return check();
        return tl::unexpected(Error(ErrorKind::unavailable,
                                    "too many large answers are in progress",
                                    "Try again in a moment."));
    }
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("the answer would be larger than {}, the limit of one request",
                          byte_size_text(answer_limit_)),
              "Ask for less: a narrower filter, fewer keys, a smaller page."));
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

Result<> charge_answer(std::size_t bytes)
{
    return current == nullptr ? Result<>() : current->charge_answer(bytes);
}

bool work_is_over() noexcept
{
    return current != nullptr && !current->check();
}

}  // namespace ponk
