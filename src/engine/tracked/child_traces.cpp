// SPDX-License-Identifier: Apache-2.0
#include "engine/tracked/child_traces.hpp"

#include "engine/tracked/child_of.hpp"
#include "store/tracking/traces.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>

namespace ponk::engine {

namespace {

constexpr std::size_t longest_id = 250;

// It is part of the place of the trace's files.
bool is_trace_id(const std::string& id)
{
    return !id.empty() && id.size() <= longest_id && id != "." && id != ".." &&
           std::all_of(id.begin(), id.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '-' || c == '_' || c == '.';
           });
}

bool is_state(const std::string& state)
{
    return state == "OK" || state == "ERROR" || state == "IN_PROGRESS" ||
           state == "STATE_UNSPECIFIED";
}

// Those that we write ourselves are not the script's.
store::Pairs pairs_of(const Json& object)
{
    store::Pairs pairs;
    if (!object.is_object()) return pairs;
    for (const auto& [key, value] : object.as_object()) {
        if (value.is_string() && key != parent_tag && key != store::artifact_location_tag)
            pairs.emplace_back(key, value.as_string());
    }
    return pairs;
}

std::optional<std::string> find_text(const Json& record, const char* name)
{
    const auto& value = record[name];
    return value.is_string() ? std::optional(value.as_string()) : std::nullopt;
}

Result<> put(const Context& context, const RunId& maker, const Json& record)
{
    const auto own = TRY(store::Tracking(context.history).get_run(maker.text()));
    store::TraceInfo trace{.id = record.text("trace"),
                           .experiment = own.experiment,
                           .time = record.integer("began"),
                           .state = record.text("state"),
                           .client_id = find_text(record, "client_id"),
                           .request = find_text(record, "request"),
                           .response = find_text(record, "response"),
                           .metadata = pairs_of(record["metadata"]),
                           .tags = pairs_of(record["tags"])};
    if (record["duration"].is_integer()) trace.duration = record.integer("duration");
    trace.tags.push_back(child_of(maker));
    return forgive(store::Traces(context.history).put(trace));
}

}  // namespace

Result<> bring_trace(const Context& context, const RunId& maker, const Json& record)
{
    const auto id = record.text("trace");
    if (!is_trace_id(id)) return {};
    store::Traces traces(context.history);
    const auto known = traces.get(id);
    if (!known && known.error().kind() != ErrorKind::not_found)
        return tl::unexpected(known.error());
    if (known && parent_of(known->tags) != maker.text()) return {};
    if (is_state(record.text("state"))) return put(context, maker, record);
    if (!known) return {};
    for (const auto& [key, value] : pairs_of(record["tags"]))
        TRY(forgive(traces.set_tag(id, key, value)));
    if (const auto key = record.text("untag"); !key.empty() && key != parent_tag)
        TRY(forgive(traces.remove_tag(id, key)));
    return {};
}

}  // namespace ponk::engine
