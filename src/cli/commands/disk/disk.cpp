// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "output/table.hpp"

#include <unistd.h>

namespace ponk::cli {
namespace disk_command {

constexpr Example examples[] = {
    {"ponk disk", "Show what ponk's data takes, by kind and by project."},
    {"ponk disk -o json --query bytes", "Print the total in bytes."},
};
constexpr std::size_t most_projects = 20;

std::string size_of(const Json& value, std::string_view key)
{
    return byte_size_text(
        static_cast<std::uint64_t>(std::max<std::int64_t>(value.integer(key), 0)));
}

std::string tables(const Json& answer, const output::Terminal& terminal)
{
    const auto right = output::Align::right;
    JsonArray parts;
    for (const Json& part : answer["parts"].as_array())
        if (part.integer("bytes") > 0)
            parts.emplace_back(
                JsonObject{{"part", part.text("part")}, {"size", size_of(part, "bytes")}});
    auto text = fmt::format("{}: {} ({} free of {})\n\n",
                            answer.text("home"),
                            size_of(answer, "bytes"),
                            size_of(answer, "free_bytes"),
                            size_of(answer, "disk_bytes"));
    text += output::render(Json(parts),
                           output::Format::table,
                           terminal,
                           {{.key = "part", .min = output::whole},
                            {.key = "size", .align = right, .min = output::whole}});
    JsonArray projects;
    for (const Json& project : answer["projects"].as_array()) {
        if (projects.size() == most_projects) break;
        if (project.integer("runs") == 0) continue;
        projects.emplace_back(JsonObject{{"project", project.text("name")},
                                         {"runs", project["runs"]},
                                         {"copies", size_of(project, "copies_bytes")},
                                         {"records", size_of(project, "records_bytes")},
                                         {"folder", project.text("path")}});
    }
    if (projects.empty()) return text;
    return text + "\n" +
           output::render(Json(projects),
                          output::Format::table,
                          terminal,
                          {{.key = "project", .min = 12},
                           {.key = "runs", .align = right, .min = output::whole},
                           {.key = "copies", .align = right, .min = output::whole},
                           {.key = "records", .align = right, .min = output::whole},
                           {.key = "folder", .min = 12}});
}

Outcome run(Context& context, const Invocation& /*words*/)
{
    const Json answer = TRY(TRY(context.daemon())->get("/disk", std::chrono::minutes(10)));
    if (context.format() != output::Format::table || context.has_query())
        return context.print(answer);
    TRY(Context::print_text(tables(answer, output::detect_terminal(STDOUT_FILENO))));
    context.note("'ponk prune' frees space; '--dry-run' shows how much");
    return exit_code::success;
}

}  // namespace disk_command

constinit const Command cmd_disk = {
    .path = "disk",
    .summary = "Show how much disk space ponk's data takes",
    .description =
        "Measures the data in PONK_HOME: snapshots and outputs, what runs left in their working "
        "copies, logs, environments, history. 'copies' of a project are the files that its "
        "scripts left outside of 'outputs'; 'records' are logs, metrics and notes. Images of "
        "environments are on the container engine.",
    .examples = disk_command::examples,
    .run = disk_command::run,
};

}  // namespace ponk::cli
