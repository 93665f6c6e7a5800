// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ponk::db {

class Connection;

// As long as this lives, reading on the connection fails once it has cost so many operations of
// SQLite's machine: for who has another way to the answer when the first one is long. One at a
// time.
class StepLimit {
public:
    StepLimit(Connection& connection, int operations);
    ~StepLimit();
    StepLimit(const StepLimit&) = delete;
    StepLimit& operator=(const StepLimit&) = delete;

    // Whether that is why a read failed.
    [[nodiscard]] bool exceeded() const noexcept { return exceeded_; }

private:
    friend class Connection;
    [[nodiscard]] bool note(int operations);

    Connection& connection_;
    int left_;
    bool exceeded_ = false;
};

}  // namespace ponk::db
