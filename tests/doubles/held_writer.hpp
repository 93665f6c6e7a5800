// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace ponk::db {

// For tests of readers: holds the database's writer as long as it lives, so whoever writes waits. A
// test that waits with it fails after a minute.
class HeldWriter {
public:
    explicit HeldWriter(Database& database)
        : thread_([this, &database] {
              EXPECT_TRUE(database.write(Durability::process, [this](Connection&) -> Result<> {
                  begun_.set_value();
                  const auto over = over_.get_future().wait_for(std::chrono::minutes(1));
                  EXPECT_EQ(over, std::future_status::ready) << "a reader waits for the writer";
                  return {};
              }));
          })
    {
        begun_.get_future().wait();
    }
    ~HeldWriter() { over_.set_value(); }
    HeldWriter(const HeldWriter&) = delete;
    HeldWriter& operator=(const HeldWriter&) = delete;

private:
    std::promise<void> begun_;
    std::promise<void> over_;
    std::jthread thread_;  // the last member: it uses the others
};

}  // namespace ponk::db
