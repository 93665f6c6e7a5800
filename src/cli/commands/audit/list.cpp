// SPDX-License-Identifier: Apache-2.0
#include "audit/list.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    {.name = "limit",
     .brief = "n",
     .value = "N",
     .help = "At most so many, the newest. Default: 50 in a table, else all."},
    {.name = "since",
     .value = "TIME",
     .help = "Only from this time on: \"2026-01-31\", \"2026-01-31 12:30\" (UTC), or so long "
             "ago: \"90s\", \"30m\", \"12h\", \"7d\"."},
    {.name = "token", .value = "NAME", .help = "Only calls with this token."},
    {.name = "refused", .help = "Only calls that were refused."},
};
constexpr Example examples[] = {
    {"ponk audit list --since 1h", "What happened in the last hour."},
    {"ponk audit list --refused -n 20", "The last calls that were refused, and from where."},
    {"ponk audit list --token ann -o json", "All that a token did, with all fields."},
};
constexpr std::size_t table_limit = 50;

std::optional<std::int64_t> time_of(std::string_view text)
{
    if (const auto written = parse_written_time(text)) return written;
    if (text.size() < 2) return std::nullopt;
    const auto count = parse_integer(text.substr(0, text.size() - 1));
    const auto unit = std::string_view("smhd").find(text.back());
    constexpr std::int64_t longest = 1'000'000;
    if (!count || *count < 0 || *count > longest || unit == std::string_view::npos)
        return std::nullopt;
    constexpr std::int64_t units[] = {1000, 60'000, 3'600'000, 86'400'000};
    return wall_milliseconds() - *count * units[unit];
}

std::string call_of(const Json& record)
{
    const auto text = record.text("text");
    if (!text.empty()) return record.text("kind") + ": " + text;
    auto call = record.text("method") + " " + record.text("route");
    if (const auto count = record.integer("count"); count > 0) call += fmt::format(" × {}", count);
    return std::string(trim(call));
}

std::string objects_of(const Json& record)
{
    if (!record["object"].is_object()) return "";
    std::vector<std::string> parts;
    for (const auto& [name, value] : record["object"].as_object())
        parts.push_back(name + "=" + (value.is_string() ? value.as_string() : to_json(value)));
    return join(parts, " ");
}

Json row_of(const Json& record)
{
    const auto peer = record.text("peer");
    return JsonObject{
        {"time", record.text("time")},
        {"who", record.text("who")},
        {"from", peer.empty() ? record.text("listener") : record.text("listener") + " " + peer},
        {"call", call_of(record)},
        {"object", objects_of(record)},
        {"status", record["status"]},
        {"outcome", record.text("outcome")}};
}

Outcome run(Context& context, const Invocation& words)
{
    const bool table = context.format() == output::Format::table && !context.has_query();
    audit::Selection selection;
    selection.limit = table ? table_limit : 0;
    if (const auto given = words.value("limit")) {
        const auto number = parse_integer(*given);
        if (!number || *number < 1) return fail_usage("'--limit {}' is not a count", *given);
        selection.limit = static_cast<std::size_t>(*number);
    }
    if (const auto since = words.value("since")) {
        selection.since = time_of(*since);
        if (!selection.since)
            return fail_usage("'--since {}' is not a time: write \"2026-01-31\" or \"12h\"",
                              *since);
    }
    if (const auto token = words.value("token")) selection.who = "token:" + *token;
    if (words.has("refused")) selection.outcome = audit::Selection::Outcome::refused;
    const auto records = TRY(audit::list(TRY(context.home()), selection));
    if (records.empty() && table) context.note("no records");
    JsonArray rows;
    for (const auto& record : records)
        rows.push_back(row_of(record));
    return context.print(Json(records), {.rows = rows, .exact = rows});
}

}  // namespace

constinit const Command cmd_audit_list = {
    .path = "audit list",
    .summary = "List who did what through the server",
    .description =
        "Each change, each refused call, and reads of secrets' and tokens' names, exports and "
        "artifacts by others: who, from where, on which object, and the answer's status. Logging "
        "of metrics is counted per minute. The files are in 'audit' of ponk's folder.",
    .options = options,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli
