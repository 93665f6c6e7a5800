// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/attach_host.hpp"

#include "base/text.hpp"
#include "cli/hosts/host_login.hpp"
#include "cli/hosts/served.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/hosts/target_facts.hpp"
#include "cli/terminal/ask.hpp"
#include "config/project/project.hpp"
#include "config/project/write.hpp"
#include "os/identity.hpp"
#include "os/variables.hpp"
#include "ssh/host_key.hpp"

#include <unistd.h>

namespace ponk::cli {
namespace {

// What runs use when the file does not say; written down so that it is easily changed.
constexpr const char* default_image = "python:3.11-slim";

tl::expected<std::string, Failure>
given_or_asked(const Invocation& words, std::string_view option, std::string_view question)
{
    if (words.has(option) && !words.text(option).empty()) return words.text(option);
    if (!has_terminal()) {
        return tl::unexpected(
            Failure(Error(ErrorKind::invalid_argument,
                          fmt::format("a machine reached by SSH needs '--{}'", option),
                          "On a terminal, ponk asks for it."),
                    exit_code::usage));
    }
    auto answer = TRY(ask_line(question));
    if (answer.empty()) return fail_usage("'--{}' is empty", option);
    return answer;
}

Result<os::Path> absolute_file(const std::string& text)
{
    if (text.starts_with("~/")) return os::home_directory() / text.substr(2);
    std::error_code problem;
    auto path = std::filesystem::absolute(text, problem);
    if (problem) return fail_errno(problem.value(), "find the file '{}'", printable(text));
    return path.lexically_normal();
}

tl::expected<Credentials, Failure> credentials_of(const Invocation& words)
{
    Credentials given;
    if (auto password = words.value("password")) {
        if (words.has("use-azureml-ssh-key") || words.has("private-key-file"))
            return fail_usage("give '--password' or a key, not both");
        if (password->empty()) return fail_usage("'--password' is empty");
        given.password = ssh::Secret(std::move(*password));
        words.forget("password");
    }
    if (words.has("password-stdin")) {
        if (words.has("use-azureml-ssh-key") || words.has("private-key-file") || given.password)
            return fail_usage("'--password-stdin' cannot be used with another password or a key");
        given.password = ssh::Secret(TRY(read_secret("Password")));
        if (given.password->text().empty())
            return fail_usage("the password on standard input is empty");
    }
    if (const auto file = words.value("private-key-file"))
        given.key_file = TRY(absolute_file(*file));
    if (auto passphrase = words.value("private-key-passphrase")) {
        if (given.key_file.empty())
            return fail_usage("'--private-key-passphrase' needs '--private-key-file'");
        given.passphrase = ssh::Secret(std::move(*passphrase));
        words.forget("private-key-passphrase");
    }
    if (words.has("use-azureml-ssh-key")) given.own_key = Credentials::OwnKey::always;
    if (const auto text = words.value("fingerprint")) {
        given.fingerprint = ssh::parse_fingerprint(*text);
        if (!given.fingerprint) {
            return tl::unexpected(
                Failure(Error(ErrorKind::invalid_argument,
                              fmt::format("'{}' is not a fingerprint", printable(*text)),
                              "A fingerprint is 'SHA256:' and 43 characters. On the machine, "
                              "'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub' prints it."),
                        exit_code::usage));
        }
    }
    return given;
}

// Without a user the settings of ssh may name one; else it is asked for.
tl::expected<ssh::Access, Failure> resolve_address(Context& context, const Invocation& words)
{
    const std::string text = TRY(given_or_asked(words, "address", "Machine (HOST or HOST:PORT)"));
    ssh::Access access;
    access.home = TRY(context.home());
    access.address = TRY(as_usage(ssh::parse_address(text, words.text("username"))));
    access.environment = os::own_variables();
    if (!access.address.user.empty()) return access;
    const ssh::Client client(access, ssh::Settings{.address = access.address});
    const auto asked = TRY(client.resolve(after(std::chrono::seconds(20)), {}));
    if (asked.user != os::user_name()) {
        access.address.user = asked.user;
    } else {
        access.address.user =
            TRY(given_or_asked(words, "username", fmt::format("User on '{}'", text)));
    }
    TRY(as_usage(ssh::check_user(access.address.user)));
    return access;
}

void set_defaults(config::ComputeTarget& target, const Invocation& words)
{
    const auto type = *target.type;
    if (config::uses_docker(type)) {
        target.base_docker_image = words.value("image").value_or(default_image);
        target.shared_volumes = true;
    }
    if (type == config::TargetType::slurm)
        target.python_location = words.value("python").value_or("python");
    if (type == config::TargetType::remote) {
        target.user_managed_environment = true;
        target.python_location = words.value("python").value_or("python3");
    }
}

// Facts about the target, told; null where the daemon cannot look.
struct Looked {
    Json answer;
    bool ready = true;
};

Looked look_at(Context& context, const os::Path& project, const std::string& name)
{
    const auto facts = ask_facts(context, project, name);
    if (facts && *facts) return {**facts, is_ready(**facts)};
    if (facts) {
        context.note("details of '{}' are not available: this daemon cannot check it", name);
        return {};
    }
    context.note("'{}' could not be checked: {}", name, facts.error().message());
    if (!facts.error().hint().empty()) context.note("hint: {}", facts.error().hint());
    return {Json(), false};
}

void tell_next(Context& context, const config::ComputeTarget& target, const Looked& looked)
{
    if (!looked.answer.is_null()) note_facts(context, target.name, looked.answer);
    if (looked.ready) {
        context.note("next: ponk submit -c {} SCRIPT", target.name);
    } else if (config::is_another_machine(target) && *target.type != config::TargetType::slurm) {
        context.note("next: 'ponk computetarget setup {0}' installs what is missing, 'ponk "
                     "computetarget check {0}' checks again",
                     target.name);
    } else {
        context.note("next: 'ponk computetarget check {}' checks again", target.name);
    }
}

// What an attach answers, whatever was written.
JsonObject
attached_fields(const config::ComputeTarget& target, const os::Path& compute, const Looked& looked)
{
    const bool known = !looked.answer.is_null();
    return {{"name", target.name},
            {"type", config::to_string(*target.type)},
            {"compute", compute.string()},
            {"ready", known ? Json(looked.ready) : Json()},
            {"facts", known ? looked.answer["facts"] : Json()},
            {"problems", known ? looked.answer["problems"] : Json(JsonArray{})}};
}

// What the look at the host says about the files: GPUs for containers, the interpreter. Written
// again only when it differs.
Result<> adapt_to(const Json& facts,
                  const Invocation& words,
                  const os::Path& project,
                  config::ComputeTarget& target,
                  const WrittenTarget& written)
{
    bool changed = false;
    if (config::uses_docker(*target.type) && has_gpu_for_containers(facts)) {
        target.nvidia_docker = true;
        changed = true;
    }
    const auto python = facts["facts"].text("python_location");
    if (*target.type == config::TargetType::remote && !words.has("python") &&
        python.starts_with('/')) {
        target.python_location = python;
        changed = true;
    }
    if (!changed) return {};
    ::unlink(written.compute.c_str());
    TRY(config::write_compute_file(project, target));
    return {};
}

Outcome finish(Context& context,
               const Invocation& words,
               const os::Path& project,
               config::ComputeTarget& target,
               const WrittenTarget& written)
{
    const Looked looked = look_at(context, project, target.name);
    if (!looked.answer.is_null()) TRY(adapt_to(looked.answer, words, project, target, written));
    tell_next(context, target, looked);
    auto fields = attached_fields(target, written.compute, looked);
    fields.set("runconfig", written.runconfig.string());
    return context.done(fmt::format("target '{}' is attached{}: {} and {}",
                                    target.name,
                                    looked.ready ? "" : ", but not ready",
                                    written.compute.filename().string(),
                                    written.runconfig.filename().string()),
                        std::move(fields));
}

// "aml_config/box.compute", as seen from here or from the project: which target of which project.
struct TargetFile {
    os::Path file;
    os::Path project;
    std::string name;
};

tl::expected<TargetFile, Failure> find_target_file(Context& context, const std::string& text)
{
    std::error_code problem;
    const auto from_here = TRY(absolute_file(text));
    const auto file = std::filesystem::exists(from_here, problem)
                          ? from_here
                          : (TRY(context.project()) / text).lexically_normal();
    const auto folder = file.parent_path();
    if (file.extension() != ".compute" || folder.filename() != "aml_config")
        return fail_usage("'--from' needs a .compute file of a project, such as "
                          "aml_config/gpu1.compute, not '{}'",
                          printable(text));
    return TargetFile{file, folder.parent_path(), file.stem().string()};
}

tl::expected<ssh::Access, Failure> access_named(Context& context, const Invocation& words)
{
    const auto file = words.value("from");
    if (!file) return resolve_address(context, words);
    const auto found = TRY(find_target_file(context, *file));
    const auto project = TRY(config::open_project(found.project));
    return TRY(access_of(TRY(context.home()), TRY(config::load_target(project, found.name))));
}

}  // namespace

Result<> require_free_name(const os::Path& project, const std::string& name)
{
    TRY(config::require_own_folder(project, "aml_config"));
    std::error_code problem;
    for (const std::string_view extension : {".compute", ".runconfig"}) {
        const os::Path taken = project / "aml_config" / fmt::format("{}{}", name, extension);
        if (!std::filesystem::exists(taken, problem)) continue;
        return tl::unexpected(Error(
            ErrorKind::conflict,
            fmt::format("{} already exists", os::in_quotes(taken)),
            fmt::format("Choose another name, or remove both files: 'ponk computetarget detach {}' "
                        "and 'ponk runconfig delete {}'.",
                        name,
                        name)));
    }
    return {};
}

Result<WrittenTarget> write_target(const os::Path& project, const config::ComputeTarget& target)
{
    std::error_code problem;
    const bool had_folder = std::filesystem::exists(project / "aml_config", problem);
    WrittenTarget written;
    written.compute = TRY(config::write_compute_file(project, target));
    auto configuration = config::is_process_here(*target.type)
                             ? config::built_in_run_configuration()
                             : config::new_run_configuration(target.name, target.name);
    configuration.name = target.name;
    configuration.target = target.name;
    auto runconfig = config::write_runconfig_file(project, configuration);
    if (!runconfig) {
        ::unlink(written.compute.c_str());
        if (!had_folder) ::rmdir((project / "aml_config").c_str());
        return tl::unexpected(runconfig.error());
    }
    written.runconfig = std::move(*runconfig);
    return written;
}

Outcome attach_host(Context& context, const Invocation& words, config::ComputeTarget target)
{
    const os::Path project = TRY(context.project());
    TRY(require_free_name(project, target.name));
    auto given = TRY(credentials_of(words));
    const auto access = TRY(resolve_address(context, words));
    auto login = TRY(HostLogin::make(context, access));
    TRY(login.log_in(std::move(given)));

    target.address = access.address.host;
    target.port = access.address.port.value_or(22);
    target.username = access.address.user;
    set_defaults(target, words);
    const auto written = TRY(write_target(project, target));
    const auto kept = login.keep(written.compute);
    if (!kept) {
        ::unlink(written.compute.c_str());
        ::unlink(written.runconfig.c_str());
        return tl::unexpected(Failure(kept.error()));
    }
    return finish(context, words, project, target, written);
}

Outcome attach_from(Context& context, const Invocation& words, const std::string& file)
{
    const auto found = TRY(find_target_file(context, file));
    const auto project = TRY(config::open_project(found.project));
    const auto target = TRY(config::load_target(project, found.name));
    TRY(require_runs(target));
    if (!config::is_another_machine(target)) {
        return context.done(
            fmt::format("target '{}' is this machine: there is nothing to attach", target.name),
            {{"name", target.name}, {"type", config::to_string(*target.type)}});
    }
    auto given = TRY(credentials_of(words));
    auto login = TRY(HostLogin::make(context, TRY(access_of(TRY(context.home()), target))));
    TRY(login.log_in(std::move(given)));
    TRY(login.keep(found.file));
    const Looked looked = look_at(context, found.project, target.name);
    tell_next(context, target, looked);
    return context.done(fmt::format("target '{}' is attached{}: '{}', from {}",
                                    target.name,
                                    looked.ready ? "" : ", but not ready",
                                    login.client().address().text(),
                                    target.file),
                        attached_fields(target, found.file, looked));
}

Outcome show_host_key(Context& context, const Invocation& words)
{
    const auto access = TRY(access_named(context, words));
    const auto login = TRY(HostLogin::make(context, access));
    const auto [key, standing] = TRY(login.show_host_key());
    const bool known = standing == ShownKey::Standing::known;
    return context.done(fmt::format("'{}' presents the {} host key {}, which is {}",
                                    access.address.text(),
                                    key.short_type(),
                                    key.fingerprint,
                                    known ? "known" : "not known yet"),
                        {{"address", access.address.text()},
                         {"type", key.short_type()},
                         {"fingerprint", key.fingerprint},
                         {"known", known}});
}

Outcome attach_engine(Context& context, const Invocation& words, config::ComputeTarget target)
{
    const os::Path project = TRY(context.project());
    TRY(require_free_name(project, target.name));
    set_defaults(target, words);
    const auto written = TRY(write_target(project, target));
    return finish(context, words, project, target, written);
}

}  // namespace ponk::cli
