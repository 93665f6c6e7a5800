// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "net/target.hpp"
#include "output/terminal.hpp"

#include <unistd.h>

namespace ponk::cli {
namespace environment_show_command {

constexpr Positional positionals[] = {common::environment};
constexpr Option options[] = {common::machine};
constexpr Example examples[] = {
    {"ponk environment show 4f1e", "Show how it was built, and every package in it."},
    {"ponk environment show 4f1e -o json --query lock",
     "Print its lock file, to use on another machine."},
};

JsonObject rows_of(const Json& entry)
{
    JsonObject rows;
    for (const std::string_view key : {"id",
                                       "machine",
                                       "target",
                                       "form",
                                       "builder",
                                       "choice",
                                       "reason",
                                       "interpreter",
                                       "prefix",
                                       "image",
                                       "base_image",
                                       "built_utc",
                                       "last_used_utc",
                                       "in_use",
                                       "packages",
                                       "lock_digest"}) {
        const Json& value = entry[key];
        if (!value.is_null() && !(value.is_string() && value.as_string().empty()))
            rows.set(std::string(key), value);
    }
    rows.set("size",
             byte_size_text(
                 static_cast<std::uint64_t>(std::max<std::int64_t>(entry.integer("size"), 0))));
    rows.set("python", entry["lock"]["python"]);
    return rows;
}

JsonArray package_rows(const Json& lock)
{
    JsonArray rows;
    if (!lock["packages"].is_array()) return rows;
    for (const Json& package : lock["packages"].as_array()) {
        rows.emplace_back(JsonObject{{"manager", package["manager"]},
                                     {"name", package["name"]},
                                     {"version", package["version"]},
                                     {"source", package["source"]}});
    }
    return rows;
}

Outcome run(Context& context, const Invocation& words)
{
    const std::string path = "/environments/" + net::percent_encode(*words.word(0)) +
                             machine_parameter(words.value("machine"));
    const Json entry = TRY(TRY(context.daemon())->get(path, std::chrono::minutes(3)));
    TRY(context.print(entry, View{.rows = rows_of(entry), .columns = {}, .exact = {}}));
    if (context.format() != output::Format::table || context.has_query()) return exit_code::success;
    TRY(Context::print_text("\n"));
    TRY(Context::print_text(output::render(package_rows(entry["lock"]),
                                           output::Format::table,
                                           output::detect_terminal(STDOUT_FILENO))));
    return exit_code::success;
}

}  // namespace environment_show_command

constinit const Command cmd_environment_show = {
    .path = "environment show",
    .summary = "Show an environment and every package in it",
    .options = environment_show_command::options,
    .positionals = environment_show_command::positionals,
    .examples = environment_show_command::examples,
    .run = environment_show_command::run,
};

}  // namespace ponk::cli
