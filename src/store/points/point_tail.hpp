// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/database.hpp"
#include "store/points/uncompacted.hpp"

#include <optional>
#include <string_view>
#include <vector>

// The table `tail`: points of requests, as they came, until they are compacted: moved into `metric`
// and `chunk`. To append is one small row; to compact costs work for each key and is done for many
// requests at once.
namespace ponk::store {

// What `encode_tail` made of points, inside a transaction of the caller, who commits it as durable
// as they shall be. Changes nothing when it fails. A row whose transaction was not committed is to
// be forgotten: nobody would find it, and its bytes would count for ever.
struct TailRow {
    std::int64_t run = 0;
    std::int64_t row = 0;
};
Result<TailRow> append_tail(db::Connection& writer,
                            Uncompacted& uncompacted,
                            std::int64_t run,
                            std::string_view tail);
void forget_tail(Uncompacted& uncompacted, const std::optional<TailRow>& row);

// Moves what was appended before the call, of the run or of all; a kill at any moment neither loses
// nor doubles a point. Costs nothing when there are none. The caller has no transaction open.
Result<> compact(db::Database& database, Uncompacted& uncompacted, std::int64_t run);
Result<> compact_all(db::Database& database, Uncompacted& uncompacted);
// Until the tail has no more than so many bytes: no longer than needed, whoever does the work.
Result<> compact_down_to(db::Database& database, Uncompacted& uncompacted, std::uint64_t bytes);

// Within a transaction of the caller: what it adds to the run comes behind what was logged before.
// Returns the rows that are to be forgotten once it is committed.
Result<std::vector<std::int64_t>>
compact_within(db::Connection& writer, const Uncompacted& uncompacted, std::int64_t run);

// What the tail has, after opening.
Result<> note_tails(db::Connection& connection, Uncompacted& uncompacted);

}  // namespace ponk::store
