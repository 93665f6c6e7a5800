// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/doctor/doctor_checks.hpp"

#include "base/text.hpp"
#include "cli/gpus/gpu_devices.hpp"
#include "cli/hosts/interpreter.hpp"
#include "cli/hosts/served.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/hosts/target_facts.hpp"
#include "config/project/project.hpp"
#include "os/git_command.hpp"
#include "ssh/failure.hpp"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ponk::cli {
namespace {

using std::chrono::seconds;

constexpr std::string_view ok = "ok";
constexpr std::string_view warn = "warn";
constexpr std::string_view bad = "fail";

// Answers in every Python that ever was; a module that breaks while it is imported is not there.
// Packages that the user installed for themselves count, which -s leaves out.
constexpr const char* questions = R"(import json, site, sys
try:
    site.addsitedir(site.getusersitepackages())
except Exception:
    pass
def version(name):
    try:
        module = __import__(name)
        return str(getattr(module, "__version__", "there"))
    except BaseException:
        return None
print(json.dumps({"version": ".".join(str(part) for part in sys.version_info[:3]),
                  "major": sys.version_info[0], "minor": sys.version_info[1],
                  "pip": version("pip"), "venv": version("venv"), "ensurepip": version("ensurepip"),
                  "numpy": version("numpy"), "pyspark": version("pyspark")}))
)";

std::string path_variable()
{
    const char* path = ::getenv("PATH");
    return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

// From the root folder and without variables of Python's own, so that no module of the project is
// imported: what -I is since 3.4.
Result<Json> ask(const os::Path& python)
{
    const auto output =
        TRY(os::run({.argv = {python.string(), "-E", "-s", "-c", questions}, .directory = "/"},
                    after(seconds(60)),
                    {}));
    if (output.exit.status() != 0) {
        return fail(ErrorKind::unavailable,
                    "{} ended with {}: {}",
                    os::in_quotes(python),
                    output.exit.status(),
                    printable(trim(output.err)));
    }
    return parse_json(output.out).map_error(while_doing("the answer of {}", os::in_quotes(python)));
}

// "python3.11 -m pip …": what the user can type for this interpreter.
std::string typed(const os::Path& python)
{
    return shell_word(python.string());
}

void add_modules(JsonArray& checks, const os::Path& python, const Json& answer)
{
    const auto module = [&](const std::string& name, const std::string& hint) {
        const bool there = answer[name].is_string();
        checks.push_back(check_result(name,
                                      there ? ok : warn,
                                      there ? answer.text(name) + " of " + python.string()
                                            : "not in " + python.string(),
                                      there ? "" : hint));
    };
    module("pip",
           fmt::format("'{} -m ensurepip --user', or 'apt install python3-pip' on Debian.",
                       typed(python)));
    const bool venv = answer["venv"].is_string() && answer["ensurepip"].is_string();
    checks.push_back(check_result("venv",
                                  venv ? ok : warn,
                                  venv ? python.string() + " can make virtual environments"
                                       : python.string() + " cannot make virtual environments",
                                  venv ? "" : "On Debian: 'apt install python3-venv'."));
    module("numpy",
           fmt::format("Only scripts that import it need it, the sample 'mnist' among them: "
                       "'{} -m pip install numpy', or 'apt install python3-numpy' on Debian.",
                       typed(python)));
}

// One interpreter; what was asked before is not asked again.
class Interpreters {
public:
    Interpreters(const os::Path& project, JsonArray& checks) : project_(project), checks_(checks) {}

    // The answer is null for a program of the project, which is not started.
    Result<Json> look_at(const config::ComputeTarget& target)
    {
        const Interpreter python = TRY(find_interpreter(project_, target));
        const auto known = answers_.find(python.program.string());
        if (known != answers_.end()) return known->second;
        if (python.owner == Interpreter::Owner::project) {
            checks_.push_back(
                check_result("python",
                             ok,
                             fmt::format("{} exists and was not started: only 'submit' and "
                                         "'prepare' start programs that come from the project",
                                         printable(python.program.string()))));
            return answers_.emplace(python.program.string(), Json()).first->second;
        }
        Json answer = TRY(ask(python.program));
        const bool old = answer.integer("major") < 3 ||
                         (answer.integer("major") == 3 && answer.integer("minor") < 5);
        checks_.push_back(check_result(
            "python",
            old ? warn : ok,
            fmt::format("{}: Python {}", python.program.string(), answer.text("version")),
            old ? "'import ponk' in a script needs Python 3.5 or newer: set 'pythonLocation' in "
                  "aml_config/local.compute."
                : ""));
        add_modules(checks_, python.program, answer);
        answers_.emplace(python.program.string(), answer);
        return answer;
    }

private:
    const os::Path& project_;
    JsonArray& checks_;
    std::map<std::string, Json> answers_;
};

Json check_configuration(const config::Project& project,
                         const std::string& name,
                         Interpreters& interpreters)
{
    const std::string title = "configuration '" + name + "'";
    const auto resolved = config::resolve(project, name);
    if (!resolved) {
        const std::string& message = resolved.error().message();
        return check_result(title,
                            bad,
                            message.substr(0, message.find('\n')),
                            "'ponk check' shows every problem with its file and line.");
    }
    if (const auto served = require_runs(resolved->target.type.value, resolved->target.name);
        !served) {
        return check_result(
            title, warn, served.error().error.message(), served.error().error.hint());
    }
    if (config::uses_docker(*resolved->target.type)) {
        return check_result(title,
                            ok,
                            fmt::format("Python of the image '{}' on target '{}'",
                                        printable(*resolved->target.base_docker_image),
                                        resolved->target.name));
    }
    if (*resolved->target.type == config::TargetType::remote) {
        return check_result(title,
                            ok,
                            fmt::format("Python '{}' on target '{}'",
                                        printable(*resolved->target.python_location),
                                        resolved->target.name));
    }
    const auto python = interpreters.look_at(resolved->target);
    if (!python) return check_result(title, bad, python.error().message(), python.error().hint());
    if (python->is_null()) {
        return check_result(title,
                            ok,
                            fmt::format("Python '{}' on target '{}'",
                                        printable(*resolved->target.python_location),
                                        resolved->target.name));
    }
    if (*resolved->run.framework == config::Framework::python) {
        return check_result(title,
                            ok,
                            fmt::format("Python {} on target '{}'",
                                        python->text("version"),
                                        resolved->target.name));
    }
    const bool spark = (*python)["pyspark"].is_string() ||
                       os::find_program("spark-submit", path_variable()).has_value();
    return check_result(
        title,
        spark ? ok : bad,
        spark ? fmt::format("PySpark on target '{}'", resolved->target.name)
              : "Framework is PySpark, but neither 'spark-submit' nor the package 'pyspark' is "
                "installed",
        spark ? ""
              : fmt::format("Install pyspark (it needs Java), or write 'Framework: Python' into "
                            "aml_config/{}.runconfig.",
                            name));
}

}  // namespace

Json check_result(const std::string& name,
                  std::string_view status,
                  const std::string& message,
                  const std::string& hint)
{
    return JsonObject{{"name", name}, {"status", status}, {"message", message}, {"hint", hint}};
}

JsonArray check_home(const os::Path& home)
{
    const std::string shown = os::in_quotes(home);
    struct stat info {};
    if (::lstat(home.c_str(), &info) != 0 && errno == ENOENT) {
        return {check_result(
            "home", ok, shown + " does not exist yet; the first command that needs it creates it")};
    }
    if (::stat(home.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return {check_result(
            "home", bad, shown + " is not a folder", "Set PONK_HOME to a folder of your own.")};
    }
    if (info.st_uid != ::geteuid() || ::access(home.c_str(), R_OK | W_OK | X_OK) != 0) {
        return {check_result("home",
                             bad,
                             fmt::format("you cannot write to {} (owner: uid {}, mode {:04o})",
                                         shown,
                                         info.st_uid,
                                         info.st_mode & 07777U),
                             "Set PONK_HOME to a folder of your own.")};
    }
    if ((info.st_mode & 077U) != 0) {
        return {check_result(
            "home",
            warn,
            fmt::format("{} is open to other users (mode {:04o})", shown, info.st_mode & 07777U),
            fmt::format("It contains logs and outputs of runs. Run 'chmod 700 {}'.",
                        shell_word(home.string())))};
    }
    return {check_result("home", ok, shown + ", private to you")};
}

JsonArray check_programs()
{
    const auto git = os::find_program("git", path_variable());
    const std::string hint = "Only 'ponk project create --from' with a git address needs it. On "
                             "Debian: 'apt install git'.";
    if (!git) return {check_result("git", warn, "not on PATH", hint)};
    const auto output = os::run(os::git_version(*git), after(seconds(20)), {});
    if (!output || output->exit.status() != 0)
        return {check_result("git", warn, git->string() + " does not start", hint)};
    return {check_result("git", ok, git->string() + ": " + printable(trim(output->out)))};
}

JsonArray check_project(const os::Path& folder)
{
    JsonArray checks;
    const auto project = config::open_project(folder);
    if (!project) return {check_result("project", bad, project.error().message())};
    Interpreters interpreters(project->root, checks);
    const auto target = config::load_target(*project, "local");
    const auto python =
        target ? interpreters.look_at(*target) : Result<Json>(tl::unexpected(target.error()));
    if (!python) {
        const std::string& message = python.error().message();
        checks.push_back(check_result("python",
                                      bad,
                                      message.substr(0, message.find('\n')),
                                      python.error().hint().empty()
                                          ? "Run 'ponk check' for details."
                                          : python.error().hint()));
    }
    std::error_code problem;
    if (!std::filesystem::is_directory(project->config_folder(), problem)) return checks;
    for (const std::string& name : project->run_configurations) {
        Json result = check_configuration(*project, name, interpreters);
        checks.push_back(std::move(result));
    }
    return checks;
}

JsonArray target_lines(const std::string& title, const Json& answer)
{
    JsonArray lines;
    std::string facts = answer.boolean("reachable") ? facts_line(answer) : "";
    if (!facts.empty() && is_ready(answer))
        lines.push_back(check_result(title, ok, std::exchange(facts, "")));
    for (const auto& [severity, what, hint] : problems_of(answer)) {
        const bool error = severity == "error";
        const auto told =
            error && !facts.empty() ? fmt::format("{} ({})", what, std::exchange(facts, "")) : what;
        lines.push_back(check_result(title, error ? bad : warn, told, hint));
    }
    return lines;
}

Json gpu_check(const Result<Json>& answer)
{
    if (!answer) return check_result("gpu", warn, answer.error().message(), answer.error().hint());
    const Json& problem = (*answer)["problem"];
    const auto cards = gpus_line(*answer);
    if (!problem.is_object()) return check_result("gpu", ok, cards);
    const bool some = (*answer)["devices"].is_array() && !(*answer)["devices"].as_array().empty();
    const auto what = problem.text("message");
    return check_result(
        "gpu", warn, some ? fmt::format("{} ({})", what, cards) : what, problem.text("hint"));
}

JsonArray check_gpus(Context& context)
{
    const auto folder = context.project();
    const auto daemon = context.daemon();
    // Both are told elsewhere.
    if (!folder || !daemon) return {};
    return {gpu_check(ask_gpus(**daemon, *folder, "local"))};
}

namespace {

void add_target(JsonArray& checks,
                Context& context,
                const config::Project& project,
                const config::ComputeTarget& target)
{
    const std::string title = "target '" + target.name + "'";
    if (config::is_another_machine(target)) {
        // Without questions: what works here works for the daemon.
        const auto home = context.home();
        const auto access =
            home ? access_of(*home, target) : Result<ssh::Access>(tl::unexpected(home.error()));
        if (access) {
            const auto attached = ssh::require_attached(access->home, access->address);
            if (!attached) {
                const auto error = ssh::name_target(attached.error(), target.name);
                checks.push_back(check_result(title, warn, error.message(), error.hint()));
                return;
            }
        }
        auto connection = access ? ssh::Connection::make(*access)
                                 : Result<ssh::Connection>(tl::unexpected(access.error()));
        const auto reached = connection ? connection->connect(after(seconds(30)), {})
                                        : Result<>(tl::unexpected(connection.error()));
        if (!reached) {
            checks.push_back(
                check_result(title, bad, reached.error().message(), reached.error().hint()));
            return;
        }
    }
    const auto answer = ask_facts(context, project.root, target.name);
    if (!answer) {
        checks.push_back(check_result(title, bad, answer.error().message(), answer.error().hint()));
        return;
    }
    if (!*answer) {
        checks.push_back(check_result(title,
                                      ok,
                                      config::is_another_machine(target)
                                          ? "reached; this daemon cannot check it in detail"
                                          : "not checked: the next run contacts its engine"));
        return;
    }
    JsonArray lines = target_lines(title, **answer);
    for (Json& line : lines)
        checks.push_back(std::move(line));
}

}  // namespace

JsonArray check_targets(Context& context)
{
    JsonArray checks;
    const auto folder = context.project();
    const auto project = folder ? config::open_project(*folder)
                                : Result<config::Project>(tl::unexpected(folder.error()));
    if (!project) return checks;  // told by check_project
    for (const std::string& name : project->targets) {
        const auto target = config::load_target(*project, name);
        if (!target || config::is_process_here(*target->type)) continue;
        if (!require_runs(*target)) continue;
        add_target(checks, context, *project, *target);
    }
    return checks;
}

}  // namespace ponk::cli
