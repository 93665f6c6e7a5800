// SPDX-License-Identifier: Apache-2.0
#include "audit/list.hpp"

#include "base/id.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/runs/run_view.hpp"
#include "output/list_writer.hpp"

#include <unistd.h>
#include <utility>

namespace ponk::cli {
namespace audit_list_command {

constexpr Option options[] = {
    {.name = "limit",
     .brief = "n",
     .value = "N",
     .help = "At most so many, the newest. Default: 50 in a table, 10000 with --query, else all."},
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

// Records at a time: what is held of a log that is listed whole.
constexpr std::size_t piece = 500;
// A query sees its document whole.
constexpr std::size_t query_limit = 10'000;

std::string call_of(const Json& record, std::string_view route)
{
    const auto text = record.text("text");
    if (!text.empty()) return record.text("kind") + ": " + text;
    return std::string(trim(record.text("method") + " " + std::string(route)));
}

std::string exact_call_of(const Json& record)
{
    const auto count = record.integer("count");
    const auto call = call_of(record, record.text("route"));
    return count > 0 ? std::string(trim(fmt::format("{} × {}", call, count))) : call;
}

std::string objects_of(const Json& record, const std::function<std::string(const Json&)>& shown)
{
    if (!record["object"].is_object()) return "";
    std::vector<std::string> parts;
    for (const auto& [name, value] : record["object"].as_object())
        parts.push_back(name + "=" + shown(value));
    return join(parts, " ");
}

std::string exact_text(const Json& value)
{
    return value.is_string() ? value.as_string() : to_json(value);
}

std::string from_of(const Json& record)
{
    const auto peer = record.text("peer");
    return peer.empty() ? record.text("listener") : record.text("listener") + " " + peer;
}

Json exact_row_of(const Json& record)
{
    return JsonObject{{"time", record.text("time")},
                      {"who", record.text("who")},
                      {"from", from_of(record)},
                      {"call", exact_call_of(record)},
                      {"object", objects_of(record, exact_text)},
                      {"status", record["status"]},
                      {"outcome", record.text("outcome")}};
}

// "runs/create" of "/api/2.0/mlflow/runs/create".
std::string_view brief_route(std::string_view route)
{
    for (const std::string_view prefix :
         {"/api/v1/", "/api/2.0/mlflow/", "/api/3.0/mlflow/", "/api/2.0/", "/api/"}) {
        if (route.starts_with(prefix)) return route.substr(prefix.size());
    }
    return route;
}

// Ids of runs as other tables have them.
std::string brief_text(const Json& value)
{
    const auto text = exact_text(value);
    if (!RunId::parse(text)) return text;
    return brief_id(JsonObject{{"run_id", text}});
}

// A count is in front: the end of a long route may be cut.
std::string brief_call_of(const Json& record)
{
    const auto count = record.integer("count");
    const auto call = call_of(record, brief_route(record.text("route")));
    return count > 0 ? std::string(trim(fmt::format("{} × {}", count, call))) : call;
}

Json row_of(const Json& record, const std::string& now)
{
    const auto outcome = record.text("outcome");
    return JsonObject{{"time", brief_shown_time(record.text("time"), now)},
                      {"who", record.text("who")},
                      {"call", brief_call_of(record)},
                      {"object", objects_of(record, brief_text)},
                      {"answer",
                       outcome == "done"
                           ? outcome
                           : std::string(trim(outcome + " " + exact_text(record["status"])))},
                      {"from", from_of(record)}};
}

Outcome print_table(Context& context, const os::Path& home, const audit::Selection& selection)
{
    using output::whole;
    const auto records = TRY(audit::list(home, selection));
    if (records.empty()) context.note("no records");
    const auto now = utc_text(wall_milliseconds());
    JsonArray rows;
    for (const auto& record : records)
        rows.push_back(row_of(record, now));
    const output::Columns columns = {
        {.key = "time", .title = fmt::format("time ({})", shown_zone(now)), .min = whole},
        {.key = "who", .min = 11},
        {.key = "call", .min = 18},
        {.key = "object", .min = 20},
        {.key = "answer", .min = whole},
        {.key = "from", .min = whole}};
    return context.print(Json(records), {.rows = std::move(rows), .columns = columns});
}

Outcome print_pieces(Context& context, const os::Path& home, const audit::Selection& selection)
{
    const bool is_tsv = context.format() == output::Format::tsv;
    output::ListWriter writer(context.format(), output::detect_terminal(STDOUT_FILENO));
    JsonArray held;
    TRY(audit::for_each_record(home, selection, [&](Json record) -> Result<> {
        held.push_back(is_tsv ? exact_row_of(record) : std::move(record));
        if (held.size() < piece) return {};
        return context.print_part(writer.add(std::exchange(held, {})));
    }));
    TRY(context.print_part(writer.add(std::move(held))));
    TRY(context.print_part(writer.finish()));
    return exit_code::success;
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
    } else if (context.has_query()) {
        selection.limit = query_limit;
    }
    if (const auto since = words.value("since")) {
        selection.since = time_of(*since);
        if (!selection.since)
            return fail_usage("'--since {}' is not a time: write \"2026-01-31\" or \"12h\"",
                              *since);
    }
    if (const auto token = words.value("token")) selection.who = "token:" + *token;
    if (words.has("refused")) selection.outcome = audit::Selection::Outcome::refused;
    const auto home = TRY(context.home());
    if (table) return print_table(context, home, selection);
    if (!context.has_query()) return print_pieces(context, home, selection);
    return context.print(Json(TRY(audit::list(home, selection))));
}

}  // namespace audit_list_command

constinit const Command cmd_audit_list = {
    .path = "audit list",
    .summary = "List who did what through the server",
    .description =
        "Changes, refused calls, and reads of secrets' and tokens' names, exports and "
        "artifacts by others: who, from where, on which object, and the answer's status. Logging "
        "of metrics, and refused and failed calls that repeat, are counted per minute. The files "
        "are in 'audit' of ponk's folder.",
    .options = audit_list_command::options,
    .examples = audit_list_command::examples,
    .paged = Command::Paged::yes,
    .run = audit_list_command::run,
};

}  // namespace ponk::cli
