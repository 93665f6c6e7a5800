// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/submission.hpp"

#include "base/text.hpp"
#include "cli/client/own_umask.hpp"
#include "cli/client/server_address.hpp"
#include "cli/runs/event_printer.hpp"
#include "cli/runs/run_view.hpp"
#include "os/variables.hpp"

#include <algorithm>

namespace ponk::cli {

Json own_environment()
{
    auto words = os::own_variables();
    // A token for a server is no business of a script.
    std::erase_if(words, is_server_variable);
    return JsonArray(words.begin(), words.end());
}

JsonObject submitter_body(Until until)
{
    JsonObject body;
    auto environment = own_environment();
    if (until == Until::accepted) {
        std::erase_if(environment.as_array(), [](const Json& word) {
            return word.as_string().starts_with("PONK_RUN_ID=");
        });
    }
    body.set("environment", std::move(environment));
    body.set("umask", own_umask());
    return body;
}

JsonObject request_body(const model::RunRequest& request, Until until)
{
    auto body = submitter_body(until);
    auto fields = to_json(request);
    for (auto& [name, value] : fields.as_object())
        body.set(name, std::move(value));
    return body;
}

model::RunRequest basic_request(const os::Path& project, const Invocation& words)
{
    model::RunRequest request;
    request.id = RunId::make();
    request.project = project.string();
    request.run_configuration = words.value("run-configuration").value_or("local");
    request.target = words.text("target");
    request.conda_dependencies = words.text("conda-dependencies");
    request.spark_dependencies = words.text("spark-dependencies");
    request.substitute = words.has("substitute");
    if (words.has("untracked")) request.tracked = false;
    return request;
}

Result<Json> submit(Context& context, const std::string& path, const Json& body, Until until)
{
    Daemon* daemon = TRY(context.daemon());
    auto record = TRY(daemon->send("POST", path, body, Daemon::Repeat::when_broken, submit_limit));
    daemon->repeat_after_restart(path, body);
    if (until == Until::recorded) return record;
    const auto id = record.text("run_id");
    EventPrinter events(context, daemon->beside(), id);
    const Deadline deadline = after(submit_limit);
    // Its files are taken once its record names the snapshot; a build, a queue or an outage is
    // nothing to wait for.
    while (record["start_time_utc"].is_null() && record["end_time_utc"].is_null() &&
           Deadline::clock::now() < deadline) {
        record = TRY(daemon->get("/runs/" + id + "/wait?until=accepted&timeout=10",
                                 std::chrono::seconds(20)));
        if (!record.text("snapshot").empty() && record.text("status") != "Starting") break;
        if (record["unreachable"].is_object() && !record.text("snapshot").empty()) break;
    }
    events.catch_up();
    return record;
}

Result<std::string> script_in_project(const os::Path& project, const std::string& script)
{
    std::error_code problem;
    os::Path given(script);
    if (script.find('\\') != script.npos && !std::filesystem::exists(project / given, problem)) {
        std::string name = script;
        std::replace(name.begin(), name.end(), '\\', '/');
        // Below this folder, or below the project's: the daemon understands the latter.
        if (std::filesystem::exists(name, problem)) given = name;
    }
    if (given.is_relative() && std::filesystem::exists(project / given, problem))
        return given.string();
    const os::Path real = std::filesystem::weakly_canonical(given, problem);
    if (problem || !std::filesystem::exists(real, problem))
        return script;  // the daemon says why not
    const os::Path relative = real.lexically_relative(project);
    if (relative.empty() || *relative.begin() == "..") {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("script {} is outside the project {}",
                              os::in_quotes(given),
                              os::in_quotes(project)),
                  "Move it into the project's folder, or give its folder with '--project'."));
    }
    return relative.string();
}

Result<std::vector<std::string>> absolute_inputs(const os::Path& project,
                                                 const std::vector<std::string>& words)
{
    std::vector<std::string> inputs;
    for (const auto& word : words) {
        std::error_code problem;
        // A name with '=' in it is a name, where there is such a file.
        const auto is_there = [&](const std::string& path) {
            return std::filesystem::exists(project / path, problem) ||
                   std::filesystem::exists(path, problem);
        };
        const auto equals = is_there(word) ? std::string::npos : word.find('=');
        const auto place = equals == std::string::npos ? "" : word.substr(0, equals + 1);
        const auto path = equals == std::string::npos ? word : word.substr(equals + 1);
        if (path.empty() || place == "=") {
            return tl::unexpected(Error(ErrorKind::invalid_argument,
                                        fmt::format("'--input {}' names no path", printable(word)),
                                        "Write '--input PATH' or '--input PLACE=PATH'."));
        }
        const auto here = std::filesystem::absolute(path, problem);
        const auto in_project = project / path;
        const bool from_here =
            std::filesystem::exists(here, problem) || !std::filesystem::exists(in_project, problem);
        inputs.push_back(place + (from_here ? here : in_project).lexically_normal().native());
    }
    return inputs;
}

Result<model::Variables> key_values(const std::vector<std::string>& words, std::string_view option)
{
    model::Variables pairs;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        if (equals == word.npos || equals == 0) {
            return fail(
                ErrorKind::invalid_argument, "'{} {}' is not KEY=VALUE", option, printable(word));
        }
        pairs.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    return pairs;
}

Result<std::int64_t> parse_time_span(std::string_view text)
{
    std::int64_t unit = 1;
    std::string_view number = text;
    if (!text.empty()) {
        switch (text.back()) {
        case 's':
            unit = 1;
            break;
        case 'm':
            unit = 60;
            break;
        case 'h':
            unit = 3600;
            break;
        case 'd':
            unit = 86400;
            break;
        default:
            unit = 0;
        }
        if (unit != 0) number.remove_suffix(1);
        if (unit == 0) unit = 1;
    }
    const auto count = parse_integer(number);
    if (!count || *count <= 0 || *count > 100LL * 365 * 86400 / unit) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("'{}' is not a duration", printable(text)),
                                    "Write seconds, or 90s, 30m, 12h, 7d."));
    }
    return *count * unit;
}

Outcome print_started(Context& context, const Json& run)
{
    if (run["start_time_utc"].is_null() && run["end_time_utc"].is_null())
        context.note("the script has not started yet; 'ponk logs --follow {}' follows the run",
                     brief_id(run));
    if (context.asked_format() || context.has_query()) return context.print(run);
    TRY(Context::print_text(run.text("run_id") + "\n"));
    return exit_code::success;
}

}  // namespace ponk::cli
