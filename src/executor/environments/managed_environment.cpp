// SPDX-License-Identifier: Apache-2.0
#include "executor/environments/managed_environment.hpp"

#include "base/text.hpp"
#include "config/packages/package_file.hpp"
#include "executor/environments/environment.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/contained_path.hpp"

#include <filesystem>

namespace ponk::executor {

namespace {

struct ReadFile {
    config::CondaEnvironment conda;
    config::Diagnostics diagnostics;
};

Result<ReadFile> read_packages(const std::string& name, const Path& tree)
{
    config::Report report(name);
    TRY(os::contained_path(tree, name)
            .map_error(while_doing("package file {}", os::in_quotes(name))));
    auto read = config::read_package_file(tree, name, report);
    if (!read) return tl::unexpected(config::to_error(report.take()));
    ReadFile file{std::move(*read), {}};
    if (report.has_errors()) return tl::unexpected(config::to_error(report.take()));
    file.diagnostics = report.take();
    return file;
}

// On the machine that runs it. What every run gets says nothing about a machine without GPUs.
bool may_have_gpus(const GpuRequest& request)
{
    if (request.empty()) return false;
    if (request.origin == GpuRequest::Origin::asked) return true;
    std::error_code ignored;
    return std::filesystem::exists("/dev/nvidiactl", ignored) ||
           std::filesystem::exists("/dev/dxg", ignored);
}

Error not_prepared(const RunSpec& spec, const environment::Outlook& outlook)
{
    return {ErrorKind::not_found,
            fmt::format("the environment of '{}' is not prepared for target '{}': {}",
                        spec.environment.file,
                        spec.location.target,
                        outlook.reason),
            "Build it with 'ponk experiment prepare', or write 'PrepareEnvironment: true' in the "
            "run configuration."};
}

EnvironmentEntry entry_of(const environment::Entry& entry)
{
    const auto& record = entry.record;
    return {.machine = {},
            .id = record.id,
            .key = record.key,
            .form = environment::to_string(record.form),
            .target = record.target,
            .builder = record.builder,
            .choice = record.choice,
            .reason = record.reason,
            .interpreter = record.interpreter,
            .prefix = record.prefix,
            .image = record.image,
            .base_image = record.base_image,
            .lock_digest = record.lock_digest,
            .spec = record.spec,
            .packages = record.packages,
            .size = record.size,
            .built = record.built,
            .last_used = entry.last_used,
            .in_use = entry.in_use};
}

std::vector<std::string>
ground_in(const std::string& path_front,
          const std::vector<std::pair<std::string, std::string>>& variables,
          const std::vector<std::string>& submitter_environment)
{
    Environment ground(submitter_environment);
    // The user's own Python must not shine through.
    for (const auto* name : {"PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"})
        ground.unset(name);
    for (const auto& [name, value] : variables)
        ground.set(name, value);
    const auto path = ground.get("PATH");
    ground.set("PATH", path_front + (path.empty() ? "" : ":" + path));
    return ground.words();
}

}  // namespace

Result<std::optional<environment::Request>> environment_request(const RunSpec& spec,
                                                                const Path& tree)
{
    const auto& wanted = spec.environment;
    if (wanted.file.empty()) return std::nullopt;
    auto conda = TRY(read_packages(wanted.file, tree)).conda;
    environment::Request request{.project = spec.project,
                                 .target = spec.location.target,
                                 .conda = std::move(conda),
                                 .root = tree,
                                 .file = wanted.file,
                                 .interpreter = {},
                                 .image = std::nullopt,
                                 .lock = std::nullopt};
    if (wanted.substitutions == model::EnvironmentSpec::Substitutions::known)
        request.substitutions = environment::Request::Substitutions::known;
    request.gpus =
        may_have_gpus(spec.resources.gpu) ? environment::Gpus::some : environment::Gpus::none;
    return request;
}

Result<std::optional<environment::Request>> environment_request(const Job& job)
{
    auto request = TRY(environment_request(job.spec, job.context.directory.work()));
    if (request && !job.context.lock.empty())
        request->lock =
            TRY(environment::parse_lock(job.context.lock)
                    .map_error(while_doing("the lock of the earlier run's environment")));
    return request;
}

Result<environment::Prepared> prepare_environment(const Path& home,
                                                  const Job& job,
                                                  const environment::Request& request,
                                                  const Progress& progress,
                                                  std::stop_token stop)
{
    const auto settings = environment::settings_from(home, job.context.submitter_environment);
    if (job.spec.environment.missing == model::EnvironmentSpec::Missing::refuse) {
        const auto outlook = TRY(environment::check(settings, request, stop));
        if (!outlook.ready) return tl::unexpected(not_prepared(job.spec, outlook));
    }
    return environment::prepare(settings, request, progress, std::move(stop));
}

Result<Examination> examine_environment(const Path& home,
                                        const Job& job,
                                        const environment::Request& request,
                                        std::stop_token stop)
{
    Examination out;
    for (const auto& diagnostic :
         TRY(read_packages(job.spec.environment.file, job.context.directory.work())).diagnostics) {
        out.remarks.push_back({diagnostic.severity == config::Severity::notice ? "note" : "warning",
                               fmt::format("{}:{}:{}: {}",
                                           diagnostic.file,
                                           diagnostic.line,
                                           diagnostic.column,
                                           diagnostic.message),
                               diagnostic.hint});
    }
    const auto outlook =
        TRY(environment::check(environment::settings_from(home, job.context.submitter_environment),
                               request,
                               std::move(stop)));
    out.ready = outlook.ready;
    out.id = outlook.id;
    out.key = outlook.key;
    out.builder = outlook.builder;
    out.choice = outlook.choice;
    out.reason = outlook.reason;
    out.interpreter = outlook.interpreter;
    if (!outlook.substitutions.empty())
        out.substitutions = environment::to_json(outlook.substitutions);
    if (outlook.missing)
        out.remarks.push_back({"error", outlook.missing->message(), outlook.missing->hint()});
    return out;
}

std::vector<std::string> ground_of(const environment::Prepared& prepared,
                                   const std::vector<std::string>& submitter_environment)
{
    return ground_in(prepared.path_front, prepared.variables, submitter_environment);
}

std::vector<std::string> ground_of_own(const std::string& prefix,
                                       const std::vector<std::string>& submitter_environment)
{
    if (prefix.empty()) return submitter_environment;
    return ground_in(prefix + "/bin", {{"VIRTUAL_ENV", prefix}}, submitter_environment);
}

EnvironmentUsed describe_use(const environment::Prepared& prepared)
{
    const auto& record = prepared.record;
    EnvironmentUsed used{.id = record.id,
                         .key = record.key,
                         .builder = record.builder,
                         .choice = record.choice,
                         .reason = prepared.reason,
                         .built = prepared.built,
                         .interpreter = record.interpreter,
                         .version = prepared.lock.python,
                         .prefix = record.prefix,
                         .packages = record.packages,
                         .lock = environment::to_text(prepared.lock),
                         .lock_digest = record.lock_digest,
                         .image = record.image,
                         .base_image = record.base_image,
                         .base_digest = {},
                         .memory_limit = 0,
                         .substitutions = {}};
    if (!prepared.substitutions.empty())
        used.substitutions = environment::to_json(prepared.substitutions);
    return used;
}

void describe_packages(const environment::Installed& installed, EnvironmentUsed& used)
{
    used.version = installed.lock.python;
    used.prefix = installed.prefix;
    used.packages = static_cast<std::int64_t>(installed.lock.packages.size());
    used.lock = environment::to_text(installed.lock);
    used.lock_digest = sha256(used.lock).text();
}

Notices substitution_notices(const environment::Prepared& prepared, const Job& job)
{
    Notices notices;
    for (const auto& substitution : prepared.substitutions)
        notices.push_back(environment::to_text(substitution, job.spec.environment.file));
    return notices;
}

void HeldEnvironments::hold(const RunId& run, environment::Prepared prepared)
{
    held_.lock()->insert_or_assign(run.text(), std::move(prepared));
}

std::optional<environment::Prepared> HeldEnvironments::take(const RunId& run)
{
    const auto held = held_.lock();
    auto node = held->extract(run.text());
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
}

void HeldEnvironments::drop(const std::string& run)
{
    held_.lock()->erase(run);
}

EnvironmentShelf::EnvironmentShelf(
    Path home, environment::Form form, RemoveImage remove_image, InUse in_use, Holders holders)
    : cache_(std::move(home)), form_(form), remove_image_(std::move(remove_image)),
      in_use_(std::move(in_use)), holders_(std::move(holders))
{
}

Result<EnvironmentList> EnvironmentShelf::list(const std::stop_token& stop) const
{
    EnvironmentList list;
    for (auto& entry : TRY(cache_.list())) {
        if (entry.record.form != form_) continue;
        if (in_use_ && !entry.in_use) {
            const auto used = in_use_(entry.record, stop);
            entry.in_use = used.value_or(false);
            if (!used)
                list.problems.push_back(
                    fmt::format("cannot find out whether environment '{}' is in use: {}",
                                entry.record.id,
                                used.error().message()));
        }
        list.entries.push_back(entry_of(entry));
    }
    return list;
}

Result<std::string> EnvironmentShelf::lock_text(const std::string& id) const
{
    return environment::to_text(TRY(cache_.lock_of(TRY(cache_.get(id)).id)));
}

Result<EnvironmentRemoval> EnvironmentShelf::remove(const std::string& id) const
{
    auto removal = TRY(cache_.remove(TRY(cache_.get(id)), remove_image_));
    return EnvironmentRemoval{removal.freed, std::move(removal.held_by)};
}

Result<EnvironmentGarbage> EnvironmentShelf::collect(const EnvironmentRules& rules,
                                                     const std::stop_token& stop) const
{
    environment::GarbageRules how{
        .largest_age = rules.largest_age, .largest_size = rules.largest_size, .form = form_};
    if (in_use_) {
        for (const auto& entry : TRY(cache_.list()))
            if (entry.record.form == form_ && in_use_(entry.record, stop).value_or(true))
                how.keep.insert(entry.record.id);
    }
    if (holders_)
        how.holders = [&](const environment::Record& record) { return holders_(record, stop); };
    auto result = TRY(cache_.collect_garbage(how, remove_image_));
    EnvironmentGarbage garbage{{}, result.freed, std::move(result.problems)};
    for (const auto& entry : result.removed)
        garbage.removed.push_back(entry_of(entry));
    return garbage;
}

}  // namespace ponk::executor
