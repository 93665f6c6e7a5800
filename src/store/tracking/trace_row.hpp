// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/search/row_search.hpp"
#include "store/tracking/traces.hpp"

namespace ponk::store {

inline constexpr PairTable trace_tags{"trace_tag", "trace"};
inline constexpr PairTable trace_metadata{"trace_metadata", "trace"};

// By the id of a trace; `get` fails when there is none.
Result<std::optional<std::int64_t>> find_trace_row(db::Connection& connection,
                                                   const std::string& id);
Result<std::int64_t> get_trace_row(db::Connection& connection, const std::string& id);
// Whether the tags that a trace has by now are still few enough.
Result<> check_tag_room(db::Connection& connection, std::int64_t row, const std::string& id);
// Those that are there get the run, which must be there.
Result<>
link_traces(db::Connection& writer, const std::vector<std::string>& ids, const std::string& run);
// Bytes of its texts.
std::size_t text_size(const TraceInfo& trace);
Result<TraceInfo> read_trace(db::Connection& connection, std::int64_t row);
// The search as a statement; also for tests of plans.
RowSearch trace_rows(const TraceSearch& search);

}  // namespace ponk::store
