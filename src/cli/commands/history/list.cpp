// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/runs/run_columns.hpp"
#include "cli/runs/run_names.hpp"
#include "cli/runs/run_search.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/runs/saved_views.hpp"
#include "model/run_state.hpp"
#include "output/column_order.hpp"
#include "query/jmespath.hpp"
#include "query/search/filter.hpp"

#include <algorithm>
#include <set>
#include <unistd.h>

namespace ponk::cli {
namespace history_list_command {

constexpr std::string_view verdicts[] = {
    "confirmed", "idle", "cpu-fallback", "lost", "unknown", "not-requested"};
constexpr Option options[] = {
    {.name = "limit",
     .brief = "n",
     .value = "N",
     .help = "Maximum number of runs: the newest, or with --order-by the first. Default: 50 in a "
             "table, else all."},
    {.name = "filter",
     .value = "TEXT",
     .help = "Only runs that match: \"metrics.loss < 0.1 AND params.lr = '0.1'\"."},
    {.name = "order-by",
     .value = "KEY",
     .help =
         "Sort by this: \"loss\", \"metrics.accuracy DESC\", \"min.loss\", \"params.lr\". May be "
         "repeated, to sort equal runs. Runs without a value come last.",
     .times = Option::Times::many},
    {.name = "columns",
     .value = "NAMES",
     .help = "Columns to show: \"run,status,accuracy,params.lr,tags.team\".",
     .times = Option::Times::many},
    {.name = "view",
     .value = "NAME",
     .help = "The filter, order and columns of a view that was saved in the page. Runs must match "
             "--filter, too; --order-by and --columns take its place."},
    {.name = "status",
     .value = "WORD",
     .help = "Only runs in this state.",
     .complete = Complete::choice,
     .choices = model::run_state_words},
    {.name = "script", .value = "NAME", .help = "Only runs of this script."},
    {.name = "target",
     .brief = "t",
     .value = "NAME",
     .help = "Only runs on this target.",
     .complete = Complete::target},
    {.name = "gpu",
     .value = "VERDICT",
     .help = "Only runs with this GPU verdict.",
     .complete = Complete::choice,
     .choices = verdicts},
    {.name = "experiment",
     .value = "NAME",
     .help = "Only runs of this experiment, of a project or of an MLflow client."},
    {.name = "all-projects", .brief = "A", .help = "Runs of all projects."},
    {.name = "hidden", .help = "Also hidden, untracked and deleted runs."},
    {.name = "deleted",
     .help = "Only runs that a client of the tracking API deleted; 'ponk history restore' restores "
             "them."},
};
constexpr std::string_view aliases[] = {"runs"};
constexpr Example examples[] = {
    {"ponk runs", "List the newest runs of this project."},
    {"ponk history list --filter \"metrics.accuracy > 0.9 AND params.lr = '0.1'\" "
     "--order-by \"metrics.accuracy DESC\"",
     "List good runs, the best first."},
    {"ponk history list --columns no,status,accuracy,loss,params.lr --order-by metrics.loss",
     "Show metrics and parameters side by side."},
    {"ponk runs --view best", "List what a view shows that was saved in the page."},
    {"ponk history list --query \"[?accuracy != null] | max_by(@, &accuracy)\"",
     "Find the best run: each metric is a field."},
    {"ponk runs --experiment vision --filter \"start_time > '2026-01-31'\"",
     "List runs of an experiment since a date."},
    {"ponk history list -o tsv --query \"[?status == 'Failed'].run_id\"",
     "Print the ids of failed runs."},
};
constexpr std::size_t table_limit = 50;

bool are_runs(const Json& list)
{
    return list.is_array() && std::ranges::all_of(list.as_array(), [](const Json& one) {
               return one["run_id"].is_string() && one["metrics"].is_object();
           });
}

// Of the runs that --query leaves, the columns; in JSON and YAML too.
Outcome
print_columns(Context& context, const Invocation& words, const std::string& columns, Json runs)
{
    Json chosen = std::move(runs);
    if (context.has_query()) {
        const auto expression = TRY(query::parse_jmespath(words.text("query")));
        chosen = TRY(expression.search(chosen));
    }
    if (!are_runs(chosen))
        return fail_usage("--columns needs whole runs, but --query selects something else");
    const auto parsed = TRY(parse_columns(columns, chosen.as_array()));
    for (const std::string& note : parsed.notes)
        context.note("{}", note);
    const View view = view_of_columns(chosen.as_array(), parsed.columns);
    TRY(Context::print_text(
        output::render(context.format() == output::Format::table ? view.rows : view.exact,
                       context.format(),
                       output::detect_terminal(STDOUT_FILENO),
                       view.columns),
        passing_of(context.format())));
    return exit_code::success;
}

// Of very many metrics a list has some; these it shall have.
Result<> add_metrics(const std::string& columns, JsonObject& search)
{
    constexpr std::size_t most = 100;
    auto names = possible_metrics(columns);
    for (const std::string& name : TRY(order_metrics(search)))
        names.push_back(name);
    if (names.size() > most) names.resize(most);
    if (!names.empty()) search.set("metrics", JsonArray(names.begin(), names.end()));
    return {};
}

// What was saved, where the command line does not say otherwise. Returns its columns.
Result<std::string> add_view(Context& context,
                             Daemon& daemon,
                             const Invocation& words,
                             const std::string& name,
                             JsonObject& search)
{
    const Json* project = search.find("project");
    const auto view =
        TRY(get_view(daemon, project == nullptr ? std::string() : project->as_string(), name));
    if (!view.filter.empty()) {
        const auto given = words.text("filter");
        search.set("filter", given.empty() ? view.filter : view.filter + " AND " + given);
    }
    if (!words.has("order-by") && !view.order_by.empty())
        search.set("order_by", JsonArray(view.order_by.begin(), view.order_by.end()));
    if (words.has("columns")) return std::string();
    for (const auto& note : view.notes)
        context.note("{}", note);
    return view.columns;
}

void add_scope(const Invocation& words, JsonObject& search)
{
    for (const auto& [option, field] : {std::pair{"status", "state"},
                                        {"script", "script"},
                                        {"target", "target"},
                                        {"gpu", "gpu"}}) {
        if (const auto value = words.value(option)) search.set(field, *value);
    }
    if (words.has("hidden")) search.set("hidden", true);
    if (words.has("deleted")) search.set("deleted", true);
}

// Of the newest runs one that is called like that.
Result<std::string> unknown_experiment(Daemon& daemon, const std::string& wanted)
{
    constexpr std::size_t looked_at = 500;
    std::set<std::string> names;
    for (const Json& run : TRY(search_runs(daemon, {}, looked_at)))
        names.insert(run.text("experiment"));
    if (names.contains(wanted)) return std::string();
    const auto near = nearest(wanted, {names.begin(), names.end()});
    return fmt::format("no run belongs to an experiment '{}'{}",
                       printable(wanted),
                       near ? fmt::format("; did you mean '{}'?", printable(*near)) : "");
}

// Imported runs belong to experiments, as those of clients do: they are in no project.
Result<std::string> no_runs_yet(Daemon& daemon)
{
    if (TRY(search_runs(daemon, {}, 1)).empty())
        return daemon.server() ? daemon.name() + " has no runs yet"
                               : std::string("no runs yet: ponk submit SCRIPT");
    return "this project has no runs yet; '--all-projects' lists those of other projects, of "
           "MLflow clients and of imports";
}

Result<std::string>
nothing_found(Daemon& daemon, const Invocation& words, JsonObject search, bool chosen)
{
    if (const auto experiment = words.value("experiment")) {
        auto sentence = TRY(unknown_experiment(daemon, *experiment));
        if (!sentence.empty()) return sentence;
    }
    search.set("deleted", true);
    if (!TRY(search_runs(daemon, std::move(search), 1)).empty())
        return "a client of the tracking API deleted these runs: '--deleted' lists them, 'ponk "
               "history restore RUN' restores them";
    if (chosen) return "no matching runs";
    return no_runs_yet(daemon);
}

Outcome run(Context& context, const Invocation& words)
{
    const bool table = context.format() == output::Format::table && !context.has_query();
    std::size_t limit = table ? table_limit : 0;
    if (const auto given = words.value("limit")) {
        const auto number = parse_integer(*given);
        if (!number || *number < 1)
            return fail_usage("'--limit {}' is not a number of runs (1 or more)", *given);
        limit = static_cast<std::size_t>(*number);
    }
    JsonObject search = TRY(search_options(words));
    add_scope(words, search);
    const bool several =
        words.has("all-projects") || words.has("experiment") || context.spans_projects();
    if (!several) {
        const std::string project = TRY(context.project_id());
        if (project.empty()) {
            if (table) context.note("{}", TRY(no_runs_yet(*TRY(context.daemon()))));
            return context.print(Json(JsonArray{}));
        }
        search.set("project", project);
    }
    auto daemon = TRY(context.daemon());
    TRY(find_order_names(*daemon, words, search));
    auto columns = join(words.values("columns"), ",");
    if (const auto view = words.value("view"))
        columns += TRY(add_view(context, *daemon, words, *view, search));
    TRY(add_metrics(columns, search));
    JsonArray runs = TRY(search_runs(*daemon, search, limit));
    const auto notes = TRY(unknown_names(*daemon, words, search, runs));
    for (const std::string& note : notes)
        context.note("{}", note);
    if (table && !words.has("limit") && runs.size() == table_limit) {
        context.note("only the {} {} are shown; '--limit N' shows more",
                     words.has("order-by") ? "first" : "newest",
                     table_limit);
    }
    if (table && runs.empty()) {
        const bool chosen = words.has("status") || words.has("script") || words.has("target") ||
                            words.has("view") || words.has("gpu") || words.has("filter") ||
                            words.has("experiment") || words.has("deleted");
        context.note("{}", TRY(nothing_found(*daemon, words, std::move(search), chosen)));
    }
    // JSON has whole runs, unless columns were asked for here.
    if (words.has("columns") || (table && !columns.empty()))
        return print_columns(context, words, columns, Json(std::move(runs)));
    if (const auto metrics = common_metrics(runs, runs.max_size()).size();
        table && metrics > most_metric_columns) {
        context.note("{} of {} metrics are shown; '--columns run,status,NAME' shows others",
                     most_metric_columns,
                     metrics);
    }
    View view = view_of_runs(runs, several ? Projects::several : Projects::one);
    if (table)
        view.columns = output::order_by_rank(view.rows,
                                             view.columns,
                                             run_column_ranks(view.columns),
                                             output::detect_terminal(STDOUT_FILENO));
    return context.print(Json(std::move(runs)), view);
}

}  // namespace history_list_command

constinit const Command cmd_history_list = {
    .path = "history list",
    .aliases = history_list_command::aliases,
    .summary = "List runs, newest first",
    .description =
        "--filter uses MLflow's search language: comparisons joined by AND. Compare metrics.NAME "
        "(= != > >= < <=) with a number; params.NAME and tags.NAME (= != LIKE ILIKE, IS NULL, IS "
        "NOT NULL) with a text in quotes; and, without a prefix, run_id, run_name, status, "
        "user_id, script, target, experiment and artifact_uri with a text, and start_time and "
        "end_time with a time in UTC ('2026-01-31', '2026-01-31 12:00') or milliseconds since "
        "1970. In a pattern '%' matches any text and '_' one character; only ILIKE ignores the "
        "case of a-z. Write a name with other characters than letters, digits, '_' and '.' in "
        "backticks: metrics.`val-loss`. A run without the value matches only IS NULL.\n--columns "
        "takes metrics.NAME, params.NAME, tags.NAME, fields of the record (as in -o json; "
        "git.commit), and plain names: the first field, metric, parameter or tag with that name. "
        "It applies to every format; --query selects runs before it.\nIn JSON each metric of a run "
        "is a top-level field, so --query can filter and sort by it.",
    .options = history_list_command::options,
    .examples = history_list_command::examples,
    .paged = Command::Paged::yes,
    .history = Command::History::any,
    .run = history_list_command::run,
};

}  // namespace ponk::cli
