// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/connection.hpp"

#include <cstdint>
#include <string>

// What tags and parameters of one run, or the tags of one experiment, may take together: whoever
// shows a run shows all of them (model/logged_limits.hpp).
namespace ponk::store {

enum class TagOwner { run, experiment };

// After tags were put, within the transaction: `invalid_argument` when they are too many now.
Result<> check_tag_room(db::Connection& writer, TagOwner owner, std::int64_t row);

// For tags that nobody can be told of: takes as many of them as fit.
class TagRoom {
public:
    static Result<TagRoom> of_run(db::Connection& connection, std::int64_t run);
    // False when there is no room for one more.
    bool take(const std::string& key, const std::string& value);

private:
    friend Result<> check_tag_room(db::Connection& writer, TagOwner owner, std::int64_t row);
    static Result<TagRoom> of(db::Connection& connection, TagOwner owner, std::int64_t row);
    [[nodiscard]] bool is_exceeded() const;

    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace ponk::store
