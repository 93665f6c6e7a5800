// SPDX-License-Identifier: Apache-2.0
#include "store/rows/event_row.hpp"

#include "base/time.hpp"

namespace ponk::store {

Result<std::int64_t> insert_event(db::Connection& connection,
                                  std::int64_t run,
                                  std::string_view kind,
                                  std::string_view text)
{
    auto last = TRY(connection.prepare("SELECT max(number) FROM event WHERE run = ?"));
    last.bind(run);
    TRY(last.step());
    const auto number = last.integer(0) + 1;
    auto insert = TRY(connection.prepare(
        "INSERT INTO event(run, number, time, kind, text) VALUES(?, ?, ?, ?, ?)"));
    TRY(insert.bind(run, number, wall_milliseconds(), kind, text).run());
    return number;
}

Result<std::vector<Event>>
read_events(db::Connection& connection, std::int64_t run, std::int64_t after, std::size_t limit)
{
    auto statement = TRY(connection.prepare("SELECT number, time, kind, text FROM event"
                                            " WHERE run = ? AND number > ? ORDER BY number"));
    statement.bind(run, after);
    std::vector<Event> events;
    while (events.size() < limit && TRY(statement.step())) {
        events.push_back(
            {statement.integer(0), statement.integer(1), statement.text(2), statement.text(3)});
    }
    return events;
}

}  // namespace ponk::store
