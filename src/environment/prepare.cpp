// SPDX-License-Identifier: Apache-2.0
#include "environment/prepare.hpp"

#include "base/text.hpp"
#include "environment/build/build_prefix.hpp"
#include "environment/build/preparation.hpp"
#include "os/process.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <unistd.h>

namespace ponk::environment {

namespace {

// Between two looks somebody may build or remove it; more often than that something is wrong.
constexpr int most_attempts = 8;

struct Asked {
    PackageRequest packages;
    std::vector<Substitution> substitutions;
};

Result<Asked> read_request(const Request& request)
{
    auto conda = request.conda;
    Asked asked;
    if (request.substitutions == Request::Substitutions::known)
        asked.substitutions = substitute(conda, request.gpus);
    asked.packages = TRY(read_package_request(conda, request.root, request.file));
    return asked;
}

// A build may have failed for a name that died or was never right.
Error offer_substitutes(const Error& error, const Request& request)
{
    if (request.substitutions == Request::Substitutions::known || request.lock ||
        error.kind() == ErrorKind::cancelled)
        return error;
    auto conda = request.conda;
    const auto known = substitute(conda, request.gpus);
    if (known.empty()) return error;
    std::vector<std::string> names;
    for (const auto& one : known)
        names.push_back("'" + printable(one.from) + "'");
    constexpr std::size_t most = 4;
    if (names.size() > most) {
        names.resize(most);
        names.emplace_back("…");
    }
    return error.with_hint(fmt::format("{}{}'--substitute' replaces {}.",
                                       error.hint(),
                                       error.hint().empty() ? "" : " ",
                                       join(names, ", ")));
}

Result<Preparation> plan(const Settings& settings,
                         const Request& request,
                         PackageRequest packages,
                         const Progress& progress,
                         const std::stop_token& stop)
{
    if (request.image) return plan_image(settings, request, std::move(packages), progress, stop);
    return plan_prefix(settings, request, std::move(packages), stop);
}

// Why there is something to build.
std::string build_reason(const Cache& cache,
                         const Request& request,
                         const Preparation& preparation,
                         const std::string& fault)
{
    if (!fault.empty()) return fault;
    const auto last = cache.last_spec(request.project, request.target);
    if (!last)
        return fmt::format("it is the first environment of this project on '{}'", request.target);
    const auto change = describe_change(*last, describe(preparation.spec));
    return change.empty() ? "the environment of the last run was removed" : change;
}

// The record when what it says is so; else why not.
struct Look {
    std::optional<Record> record;
    std::string fault;
};

Result<Look> look(const Cache& cache, const Preparation& preparation, const std::stop_token& stop)
{
    auto record = TRY(cache.find(preparation.id));
    if (!record) return Look{};
    auto fault = TRY(preparation.fault(*record, stop));
    if (!fault.empty()) return Look{std::nullopt, std::move(fault)};
    return Look{std::move(record), {}};
}

// A lock that another environment was built to by itself: that one serves.
Result<> reuse_by_lock(const Cache& cache, const Request& request, Preparation& preparation)
{
    if (!request.lock) return {};
    auto plain = preparation.spec;
    plain.lock_digest.clear();
    const auto suffix = preparation.id.substr(key_of(plain).size());
    const auto id = key_of(plain) + suffix;
    const auto record = TRY(cache.find(id));
    if (!record || record->lock_digest != digest_of(*request.lock).text()) return {};
    preparation.spec = plain;
    preparation.id = id;
    return {};
}

bool is_venv(const Record& record)
{
    return record.builder == "uv" || record.builder.starts_with("venv");
}

// What a run needs to know of one that is ready.
Prepared describe_ready(Record record, Lock lock, os::FileLock lease)
{
    Prepared prepared;
    prepared.path_front = record.prefix + "/bin";
    prepared.variables.emplace_back(is_venv(record) ? "VIRTUAL_ENV" : "CONDA_PREFIX",
                                    record.prefix);
    prepared.record = std::move(record);
    prepared.lock = std::move(lock);
    prepared.lease = std::move(lease);
    return prepared;
}

// Whether these packages, on the base that the record names, are what it was built from.
bool is_built_from(const Record& record,
                   const PackageRequest& packages,
                   const Path& named_python,
                   const Settings& settings)
{
    EnvironmentSpec spec;
    spec.form = Form::prefix;
    spec.platform = this_platform();
    spec.base = record.spec.text("base");
    spec.packages = packages;
    if (!spec.base.empty())
        spec.packages.channels.clear();
    else if (spec.packages.channels.empty())
        spec.packages.channels = settings.default_channels;
    if (record.form != Form::prefix || !(describe(spec) == record.spec)) return false;
    return spec.base.empty() || named_python.empty() ||
           spec.base.ends_with(" " + named_python.native());
}

// The parts of a record that follow from the request.
void complete(Record& record,
              const Request& request,
              const Preparation& preparation,
              const Lock& lock)
{
    record.id = preparation.id;
    record.key = key_of(preparation.spec);
    record.form = preparation.spec.form;
    record.target = request.target;
    if (record.builder.empty()) record.builder = preparation.builder;
    if (record.choice.empty()) record.choice = preparation.choice;
    record.spec = describe(preparation.spec);
    record.lock_digest = digest_of(lock).text();
    record.packages = static_cast<std::int64_t>(lock.packages.size());
    record.built = wall_milliseconds();
}

// One call of `prepare`.
class Work {
public:
    Work(const Settings& settings,
         const Request& request,
         const Progress& progress,
         std::stop_token stop,
         Preparation preparation)
        : settings_(settings), request_(request), progress_(progress), stop_(std::move(stop)),
          cache_(settings.home), preparation_(std::move(preparation))
    {
    }

    Result<Prepared> run()
    {
        TRY(reuse_by_lock(cache_, request_, preparation_));
        for (int attempt = 0; attempt < most_attempts; ++attempt) {
            if (auto prepared = TRY(take())) return std::move(*prepared);
            TRY(make());
        }
        return fail(ErrorKind::conflict,
                    "environment '{}' is removed each time it is built",
                    preparation_.id);
    }

private:
    // What is there and whole, held.
    Result<std::optional<Prepared>> take()
    {
        auto lease = TRY(cache_.lock_for_use(preparation_.id, stop_));
        auto found = TRY(look(cache_, preparation_, stop_));
        if (!found.record) return std::nullopt;
        auto prepared = describe_ready(
            std::move(*found.record), TRY(cache_.lock_of(preparation_.id)), std::move(lease));
        TRY(cache_.note_use(preparation_.id));
        TRY(cache_.note_spec(request_.project, request_.target, describe(preparation_.spec)));
        prepared.built = !reason_.empty();
        prepared.reason =
            prepared.built ? "built because " + reason_ : "reused: no relevant change";
        return prepared;
    }

    Result<> make()
    {
        const auto held = TRY(cache_.lock_for_change(
            preparation_.id,
            after(settings_.build_limit),
            [this] { progress_("waiting for another process that is building this environment"); },
            stop_));
        const auto found = TRY(look(cache_, preparation_, stop_));
        if (found.record) return {};
        if (auto adopted = TRY(preparation_.adopt(stop_))) {
            complete(adopted->record, request_, preparation_, adopted->lock);
            adopted->record.reason = "found on the engine";
            return cache_.publish(adopted->record, adopted->lock);
        }
        reason_ = build_reason(cache_, request_, preparation_, found.fault);
        progress_("building an environment: " + reason_);
        const auto& channels = preparation_.spec.packages.channels;
        if (std::find(channels.begin(), channels.end(), "defaults") != channels.end())
            progress_("the channel 'defaults' belongs to Anaconda, whose terms of service require "
                      "a licence for larger organisations; 'conda-forge' is free");
        auto result = build(held);
        if (!result) static_cast<void>(cache_.abandon(preparation_.id));
        return result.map_error(while_doing("build the environment"));
    }

    Result<> build(const os::FileLock& held)
    {
        const auto redactor = redactor_for(preparation_.spec.packages, settings_);
        auto folder = TRY(cache_.begin(preparation_.id));
        const BuildContext context{.settings = settings_,
                                   .redactor = redactor,
                                   .progress = progress_,
                                   .deadline = after(settings_.build_limit),
                                   .stop = stop_,
                                   .held_lock = held.fd(),
                                   .folder = std::move(folder)};
        auto built = TRY(preparation_.build(context));
        complete(built.record, request_, preparation_, built.lock);
        built.record.reason = reason_;
        if (preparation_.spec.form == Form::prefix)
            built.record.size = TRY(size_on_disk(context.folder));
        return cache_.publish(built.record, built.lock);
    }

    const Settings& settings_;
    const Request& request_;
    const Progress& progress_;
    std::stop_token stop_;
    Cache cache_;
    Preparation preparation_;
    std::string reason_;  // of what was built now
};

}  // namespace

Result<Preparation> plan_prefix(const Settings& settings,
                                const Request& request,
                                PackageRequest packages,
                                std::stop_token stop)
{
    auto plan = TRY(choose_builder(packages, request.interpreter, settings, std::move(stop)));
    Preparation preparation;
    preparation.builder = to_string(plan.builder);
    preparation.choice = plan.reason;
    preparation.spec.platform = this_platform();
    if (is_conda_like(plan.builder)) {
        if (packages.channels.empty()) packages.channels = settings.default_channels;
    } else {
        preparation.spec.base = plan.python->identity();
        packages.channels.clear();
    }
    preparation.spec.packages = std::move(packages);
    if (request.lock) preparation.spec.lock_digest = digest_of(*request.lock).text();
    preparation.id = key_of(preparation.spec);
    preparation.fault = [](const Record& record, const std::stop_token&) -> Result<std::string> {
        if (::access(record.interpreter.c_str(), X_OK) == 0) return std::string();
        return fmt::format("its interpreter '{}' is missing", record.interpreter);
    };
    preparation.examine =
        [&settings,
         builder = preparation.builder,
         choice = plan.reason,
         needed = space_needed(preparation.spec.packages, settings)](
            const std::stop_token&) -> Result<std::pair<std::string, std::string>> {
        TRY(os::make_directories(settings.home));
        TRY(check_space(settings.home, needed));
        return std::pair(builder, choice);
    };
    preparation.adopt = [](const std::stop_token&) -> Result<std::optional<Built>> {
        return std::nullopt;
    };
    preparation.build = [spec = preparation.spec, plan, lock = request.lock](
                            const BuildContext& context) -> Result<Built> {
        auto prefix = TRY(build_prefix(spec, plan, lock, context));
        Built built;
        built.record.interpreter = prefix.interpreter.string();
        built.record.prefix = prefix.prefix.string();
        built.lock = std::move(prefix.lock);
        return built;
    };
    return preparation;
}

Result<Prepared> prepare(const Settings& settings,
                         const Request& request,
                         const Progress& progress,
                         std::stop_token stop)
{
    auto asked = TRY(read_request(request));
    auto preparation = TRY(plan(settings, request, std::move(asked.packages), progress, stop));
    auto prepared =
        TRY(Work(settings, request, progress, stop, std::move(preparation))
                .run()
                .map_error([&](const Error& error) { return offer_substitutes(error, request); }));
    prepared.substitutions = std::move(asked.substitutions);
    return prepared;
}

Result<std::optional<Prepared>> find_built(const Settings& settings, const Request& request)
{
    const auto asked = TRY(read_request(request));
    const Cache cache(settings.home);
    auto entries = TRY(cache.list());
    const auto last = cache.last_spec(request.project, request.target);
    std::error_code problem;
    const auto named = std::filesystem::canonical(
        os::find_program(request.interpreter, variable(settings.environment, "PATH"))
            .value_or(Path()),
        problem);
    std::stable_partition(entries.begin(), entries.end(), [&last](const Entry& entry) {
        return last && entry.record.spec == *last;
    });
    for (const auto& entry : entries) {
        if (!is_built_from(entry.record, asked.packages, named, settings)) continue;
        auto lease = TRY(cache.try_lock_for_use(entry.record.id));
        if (!lease) continue;
        // Looked at again behind the lock: it may have been removed meanwhile.
        auto record = TRY(cache.find(entry.record.id));
        if (!record || ::access(record->interpreter.c_str(), X_OK) != 0) continue;
        auto lock = TRY(cache.lock_of(record->id));
        TRY(cache.note_use(record->id));
        return describe_ready(std::move(*record), std::move(lock), std::move(*lease));
    }
    return std::nullopt;
}

Result<Outlook> check(const Settings& settings, const Request& request, std::stop_token stop)
{
    auto asked = TRY(read_request(request));
    Outlook outlook;
    outlook.substitutions = std::move(asked.substitutions);
    auto preparation = plan(settings, request, asked.packages, {}, stop);
    if (!preparation) {
        outlook.missing = preparation.error();
        outlook.reason = preparation.error().message();
        return outlook;
    }
    const Cache cache(settings.home);
    TRY(reuse_by_lock(cache, request, *preparation));
    outlook.key = key_of(preparation->spec);
    outlook.id = preparation->id;
    outlook.builder = preparation->builder;
    const auto found = TRY(look(cache, *preparation, stop));
    if (found.record) {
        outlook.ready = true;
        outlook.interpreter = found.record->interpreter;
        outlook.builder = found.record->builder;
        outlook.choice = found.record->choice;
        outlook.reason = "its environment is already built";
        return outlook;
    }
    if (TRY(preparation->adopt(stop))) {
        outlook.ready = true;
        outlook.reason = "its image is already on the engine";
        return outlook;
    }
    outlook.reason = build_reason(cache, request, *preparation, found.fault);
    const auto examined = preparation->examine(stop);
    if (examined)
        std::tie(outlook.builder, outlook.choice) = *examined;
    else
        outlook.missing = examined.error();
    return outlook;
}

}  // namespace ponk::environment
