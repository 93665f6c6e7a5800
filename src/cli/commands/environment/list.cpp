// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace environment_list_command {

constexpr Example examples[] = {
    {"ponk environment list", "List all environments with their sizes, the last used first."},
    {"ponk environment list -o json --query 'sum([].size)'", "Show their total size."},
};
constexpr std::size_t brief = 12;  // digits that are shown; as many or fewer name it elsewhere

Json row_of(const Json& entry)
{
    const auto used = entry.text("last_used_utc");
    return JsonObject{
        {"id", entry.text("id").substr(0, brief)},
        {"target",
         entry["machine"].is_string() ? entry.text("target") + " on " + entry.text("machine")
                                      : entry.text("target")},
        {"form", entry["form"]},
        {"builder", entry["builder"]},
        {"packages", entry["packages"]},
        {"size",
         byte_size_text(
             static_cast<std::uint64_t>(std::max<std::int64_t>(entry.integer("size"), 0)))},
        {"last_used", used.size() > 16 ? used.substr(0, 10) + " " + used.substr(11, 5) : used},
        {"in_use", entry.boolean("in_use") ? "yes" : ""}};
}

Outcome run(Context& context, const Invocation& /*words*/)
{
    const Json answer = TRY(TRY(context.daemon())->get("/environments", std::chrono::minutes(3)));
    const Json list = answer["environments"].is_array() ? answer["environments"] : JsonArray{};
    if (answer["problems"].is_array()) {
        for (const Json& problem : answer["problems"].as_array())
            if (problem.is_string()) context.note("{}", printable(problem.as_string()));
    }
    JsonArray rows;
    for (const Json& entry : list.as_array())
        rows.push_back(row_of(entry));
    const auto right = output::Align::right;
    View view{.rows = std::move(rows),
              // What names it and what it takes is never cut; the rest gives way from the right.
              .columns = {{.key = "id", .min = output::whole},
                          {.key = "target", .min = output::whole},
                          {.key = "size", .align = right, .min = output::whole},
                          {.key = "last_used", .title = "last used (UTC)", .min = output::whole},
                          {.key = "in_use", .title = "in use", .min = output::whole},
                          {.key = "packages", .align = right, .min = output::whole},
                          {.key = "form", .min = output::whole},
                          {.key = "builder", .min = 12}},
              .exact = list};
    return context.print(list, view);
}

}  // namespace environment_list_command

constinit const Command cmd_environment_list = {
    .path = "environment list",
    .summary = "List the environments built on all targets",
    .description = "An environment is built once per target and shared by all runs that need the "
                   "same packages. Environments unused for long are removed automatically: after "
                   "PONK_ENV_KEEP_DAYS days (default 60), or when the environments of a machine "
                   "together exceed PONK_ENV_KEEP_SIZE bytes (default 100 GiB), the longest unused "
                   "first. 0 disables a limit. Set both variables where the daemon is started. An "
                   "environment in use is never removed.",
    .examples = environment_list_command::examples,
    .run = environment_list_command::run,
};

}  // namespace ponk::cli
