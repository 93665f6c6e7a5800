// SPDX-License-Identifier: Apache-2.0
#include "store/rows/tag_room.hpp"

#include "base/text.hpp"
#include "model/logged_limits.hpp"

namespace ponk::store {

namespace limits = model::limits;

Result<TagRoom> TagRoom::of(db::Connection& connection, TagOwner owner, std::int64_t row)
{
    auto statement = TRY(connection.prepare(
        owner == TagOwner::run
            ? "SELECT count(*), sum(length(key) + length(value)) FROM tag WHERE run = ?"
            : "SELECT count(*), sum(length(key) + length(value)) FROM experiment_tag"
              " WHERE project = ?"));
    statement.bind(row);
    TagRoom room;
    if (!TRY(statement.step())) return room;
    room.count_ = static_cast<std::size_t>(statement.integer(0));
    room.bytes_ = static_cast<std::size_t>(statement.integer(1));
    return room;
}

Result<TagRoom> TagRoom::of_run(db::Connection& connection, std::int64_t run)
{
    return of(connection, TagOwner::run, run);
}

bool TagRoom::is_exceeded() const
{
    return count_ > limits::tags || bytes_ > limits::all_tags;
}

bool TagRoom::take(const std::string& key, const std::string& value)
{
    const auto before = *this;
    ++count_;
    bytes_ += key.size() + value.size();
    if (!is_exceeded()) return true;
    *this = before;
    return false;
}

Result<> check_tag_room(db::Connection& writer, TagOwner owner, std::int64_t row)
{
    if (!TRY(TagRoom::of(writer, owner, row)).is_exceeded()) return {};
    return fail(ErrorKind::invalid_argument,
                "{} has at most {} tags, of {} together",
                owner == TagOwner::run ? "A run, with its parameters," : "An experiment",
                limits::tags,
                byte_size_text(limits::all_tags));
}

}  // namespace ponk::store
