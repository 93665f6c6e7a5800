// SPDX-License-Identifier: Apache-2.0
#include "db/step_limit.hpp"

#include "db/connection.hpp"

#include <sqlite3.h>

namespace ponk::db {

namespace {

constexpr int asked_every = 1000;  // operations

}  // namespace

StepLimit::StepLimit(Connection& connection, int operations)
    : connection_(connection), left_(operations / asked_every)
{
    ::sqlite3_progress_handler(connection.handle(), asked_every, &StepLimit::ask, this);
}

StepLimit::~StepLimit()
{
    ::sqlite3_progress_handler(connection_.handle(), 0, nullptr, nullptr);
}

int StepLimit::ask(void* self)
{
    auto& limit = *static_cast<StepLimit*>(self);
    if (limit.left_-- > 0) return 0;
    limit.exceeded_ = true;
    return 1;
}

}  // namespace ponk::db
