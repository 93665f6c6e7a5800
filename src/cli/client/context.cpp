// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"

#include "base/text.hpp"
#include "cli/client/home.hpp"
#include "cli/client/named_project.hpp"
#include "cli/terminal/local_time.hpp"
#include "config/project/enclosing_project.hpp"
#include "net/target.hpp"
#include "os/identity.hpp"
#include "output/terminal.hpp"
#include "query/jmespath.hpp"

#include <unistd.h>

namespace ponk::cli {

namespace {

// A run that starts here while the history is read elsewhere would be looked for in vain.
Error works_here_only(const Invocation& words, const ServerAddress& server)
{
    return {ErrorKind::invalid_argument,
            fmt::format("'{}' works with this machine only, and {} names the server {}",
                        words.path,
                        server.origin,
                        server.url),
            server.origin == "PONK_SERVER"
                ? fmt::format("Run 'ponk {} --server here' for this machine.", words.path)
                : "Leave '--server' out."};
}

std::int64_t milliseconds_since(Deadline::clock::time_point begin)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(Deadline::clock::now() - begin)
        .count();
}

}  // namespace

Result<Context> Context::make(const Entry& entry, const Invocation& words)
{
    Context context(entry);
    if (const auto name = words.value("output")) context.format_ = TRY(output::parse_format(*name));
    context.query_ = words.text("query");
    if (words.has("query")) {
        // A wrong expression is told before anything is done.
        TRY(query::parse_jmespath(context.query_).map_error(while_doing("--query")));
    }
    context.project_ = words.text("project");
    context.debug_ = words.has("debug");
    context.verbose_ = words.has("verbose") || context.debug_;
    const auto history = words.command->history;
    if (history == Command::History::none && !words.has("server")) return context;
    auto server = TRY(find_server(words.value("server")));
    if (server && history != Command::History::any)
        return tl::unexpected(works_here_only(words, *server));
    context.server_ = std::move(server);
    return context;
}

output::Format Context::format() const
{
    if (format_) return *format_;
    return ::isatty(STDOUT_FILENO) == 1 ? output::Format::table : output::Format::json;
}

Result<os::Path> Context::project()
{
    if (found_project_) return *found_project_;
    std::error_code problem;
    const os::Path given = project_.empty() ? os::Path(".") : os::Path(project_);
    os::Path folder = std::filesystem::canonical(given, problem);
    if (problem) {
        return tl::unexpected(
            system_error(problem.value(), fmt::format("project folder {}", os::in_quotes(given)))
                .with_hint("Use '--project PATH' to set the project's folder."));
    }
    if (!std::filesystem::is_directory(folder, problem)) {
        return fail(
            ErrorKind::invalid_argument, "project {} is not a folder", os::in_quotes(folder));
    }
    found_project_ = folder;
    // Who names the folder means it.
    if (!project_.empty()) return folder;
    const auto home_folder = std::filesystem::weakly_canonical(os::home_directory(), problem);
    const auto above = config::enclosing_project(
        folder, home_folder, [this](const os::Path& each) { return is_known(each); });
    if (above == folder) return folder;
    note("project: {}, which contains this folder ('-p .' uses the folder itself)",
         printable(above.string()));
    folder_in_project_ = folder.lexically_relative(above).string();
    found_project_ = above;
    return above;
}

Result<std::string> Context::folder_in_project()
{
    TRY(project());
    return folder_in_project_;
}

// A daemon that does not run is not started for the question: marks of projects are enough for what
// does without it.
bool Context::is_known(const os::Path& folder)
{
    if (!daemon_ && !asked_) {
        const auto home_folder = home();
        auto found = home_folder ? Daemon::find(*home_folder) : Result<std::optional<Daemon>>();
        if (!found || !*found) return false;
        asked_ = std::move(*found);
    }
    auto& server = daemon_ ? daemon_ : asked_;
    const auto known = server->get("/projects/lookup?path=" + net::percent_encode(folder.string()));
    return known && known->integer("runs") > 0;
}

Result<os::Path> Context::home() const
{
    return ponk_home();
}

Result<Daemon*> Context::daemon()
{
    if (daemon_) return &*daemon_;
    const auto begin = Deadline::clock::now();
    daemon_ = server_ ? TRY(Daemon::reach_server(*server_)) : TRY(Daemon::reach(TRY(home())));
    if (debug_) daemon_->set_trace(Daemon::Trace::yes);
    if (debug_ && server_) {
        note("debug: {}, ponk {}: reached in {} ms",
             daemon_->name(),
             printable(daemon_->about().text("version")),
             milliseconds_since(begin));
    } else if (debug_) {
        note("debug: daemon {}, process {}, at {}: reached in {} ms",
             daemon_->about().text("version"),
             daemon_->about().integer("pid"),
             os::in_quotes(daemon_->home() / "daemon.sock"),
             milliseconds_since(begin));
    }
    return &*daemon_;
}

Result<std::string> Context::project_id()
{
    if (project_id_) return *project_id_;
    if (spans_projects()) return std::string();
    if (server_) {
        const Json found = TRY(find_named_project(*TRY(daemon()), project_, project_));
        project_id_ = found.text("id");
        return *project_id_;
    }
    const os::Path folder = TRY(project());
    Daemon* server = TRY(daemon());
    auto answer = server->get("/projects/lookup?path=" + net::percent_encode(folder.string()));
    if (!answer && answer.error().kind() != ErrorKind::not_found) {
        return tl::unexpected(answer.error());
    }
    project_id_ = answer ? answer->text("id") : std::string();
    return *project_id_;
}

Result<Json> Context::run(std::string_view name)
{
    Daemon* server = TRY(daemon());
    std::string id;
    if (name == "last") {
        id = TRY(project_id());
        if (id.empty() && !server_) {
            return tl::unexpected(Error(
                ErrorKind::not_found,
                fmt::format("project {} has no runs yet", os::in_quotes(TRY(project()))),
                "'ponk submit SCRIPT' starts the first one; use '-p PATH' for another project."));
        }
    }
    if (name.find('/') != std::string_view::npos) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    "a run with '/' in its name cannot be named by it",
                                    "Give its id; 'ponk runs' lists it."));
    }
    // The number of a run means one of this project, and so does its name.
    if (name.find_first_not_of("0123456789") == std::string_view::npos ||
        name.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
        id = TRY(project_id());
    return server->get(run_path(name, id));
}

void Context::warn_of_run_name(std::string_view name) const
{
    std::string_view why;
    if (name == "last")
        why = "it means the newest run";
    else if (name.find('/') != name.npos)
        why = "it contains '/'";
    else if (!name.empty() && name.find_first_not_of("0123456789") == name.npos)
        why = "it is taken for a run's number";
    if (!why.empty())
        note("the run cannot be found by the name '{}': {}; use its id or number",
             printable(name),
             why);
}

Passing passing_of(output::Format format)
{
    return format == output::Format::tsv || format == output::Format::yaml ? Passing::text
                                                                           : Passing::colours;
}

Outcome Context::print(const Json& document, const View& view)
{
    const output::Terminal terminal = output::detect_terminal(STDOUT_FILENO);
    if (has_query()) {
        const auto expression = TRY(query::parse_jmespath(query_));
        const Json selected = TRY(expression.search(document));
        TRY(print_text(output::render(selected, format(), terminal), passing_of(format())));
        printed_ = true;
        return exit_code::success;
    }
    const Json* shown = &document;
    if (format() == output::Format::table && !view.rows.is_null()) shown = &view.rows;
    Json local;
    if (format() == output::Format::table && shows_local_time()) {
        local = with_local_times(*shown);
        shown = &local;
    }
    if (format() == output::Format::tsv && !view.exact.is_null()) shown = &view.exact;
    TRY(print_text(output::render(*shown, format(), terminal, view.columns), passing_of(format())));
    printed_ = true;
    return exit_code::success;
}

Result<> Context::print_part(std::string_view text)
{
    printed_ = true;
    return print_text(text, passing_of(format()));
}

Outcome Context::done(const std::string& message, JsonObject fields)
{
    if (format() == output::Format::table && !has_query()) {
        TRY(print_text(message + "\n", Passing::text));
        return exit_code::success;
    }
    fields.set("message", message);
    return print(Json(std::move(fields)));
}

Result<> Context::print_text(std::string_view text, Passing passing)
{
    return cli::print_text(text, passing);
}

void Context::note_line(const std::string& text) const
{
    // One write, so that lines of several processes do not mix.
    [[maybe_unused]] const auto written =
        write_out(STDERR_FILENO, "ponk: " + text + "\n", Passing::text);
}

tl::expected<std::string, Failure> run_name(const Invocation& words, std::string_view otherwise)
{
    const auto option = words.value("run");
    const auto word = words.word(0);
    if (option && word && *option != *word) {
        return fail_usage("two runs are given: '{}' and '--run {}'", *word, *option);
    }
    if (word) return *word;
    if (option) return *option;
    if (!otherwise.empty()) return std::string(otherwise);
    return tl::unexpected(Failure(Error(ErrorKind::invalid_argument,
                                        fmt::format("'{}' needs a run", words.path),
                                        "Give a run id, the start or end of one, its number, or "
                                        "'last'."),
                                  exit_code::usage));
}

}  // namespace ponk::cli
