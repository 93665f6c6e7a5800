// SPDX-License-Identifier: Apache-2.0
#include "db/step_limit.hpp"

#include "db/connection.hpp"

namespace ponk::db {

StepLimit::StepLimit(Connection& connection, int operations)
    : connection_(connection), left_(operations)
{
    connection.step_limit_ = this;
}

StepLimit::~StepLimit()
{
    connection_.step_limit_ = nullptr;
}

bool StepLimit::note(int operations)
{
    left_ -= operations;
    exceeded_ = exceeded_ || left_ < 0;
    return exceeded_;
}

}  // namespace ponk::db
