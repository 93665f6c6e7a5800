// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"
#include "store/history.hpp"

namespace ponk::store {

struct History::Impl {
    std::unique_ptr<db::Database> database;
    Opening opening;
};

}  // namespace ponk::store
