// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/disk.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "engine/files/artifacts.hpp"
#include "engine/maintenance/environments.hpp"
#include "engine/maintenance/maintenance.hpp"
#include "os/directory.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

namespace ponk::engine {

namespace {

constexpr std::int64_t default_days = 30;
constexpr std::int64_t default_size = std::int64_t{50} << 30;
constexpr std::int64_t most_days = 36'500;

// Calls `use` for each run of the project that this machine has a folder of.
template <class Use>
Result<> for_each_run(const Context& context, const std::string& project, const Use& use)
{
    store::RunFilter filter;
    filter.project = project;
    filter.hidden = store::RunFilter::Hidden::include;
    filter.limit = 1000;
    for (;;) {
        const auto page = TRY(context.history.list_runs(filter));
        for (const auto& run : page.runs)
            TRY(use(run));
        if (!page.next) return {};
        filter.before = page.next;
    }
}

std::int64_t
setting(const std::vector<std::string>& variables, const char* name, std::int64_t usual)
{
    const auto value = parse_integer(os::variable(variables, name));
    return value && *value >= 0 ? *value : usual;
}

// Of the environments, those that the rules of age reach; which more go for their size is decided
// when they go.
std::vector<executor::EnvironmentEntry> unused_environments(const Context& context,
                                                            const executor::EnvironmentRules& rules,
                                                            PruneReport& report,
                                                            const std::stop_token& stop)
{
    auto list = list_environments(context, stop);
    report.problems = std::move(list.problems);
    std::erase_if(list.entries, [&](const executor::EnvironmentEntry& entry) {
        const auto age = std::chrono::milliseconds(wall_milliseconds() - entry.last_used);
        return entry.in_use || rules.largest_age.count() == 0 || age < rules.largest_age;
    });
    return std::move(list.entries);
}

}  // namespace

Result<DiskReport> measure_disk(const Context& context, const std::stop_token& stop)
{
    DiskReport report;
    std::map<std::string, DiskReport::ProjectUse> projects;
    for (auto& summary : TRY(context.history.projects()))
        projects[summary.project.id] = {summary.project, summary.runs, 0, 0};
    std::uint64_t copies = 0;
    std::uint64_t records = 0;
    TRY(for_each_run(context, "", [&](const model::Run& run) -> Result<> {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        const auto directory = context.run_directory(run.id);
        const auto all = os::disk_use(directory.root()).bytes;
        const auto copy = os::disk_use(directory.work()).bytes;
        copies += copy;
        records += all - std::min(copy, all);
        if (const auto found = projects.find(run.project); found != projects.end()) {
            found->second.copies += copy;
            found->second.records += all - std::min(copy, all);
        }
        return {};
    }));
    const auto size_of = [&context](const char* name) {
        return os::disk_use(context.home / name).bytes;
    };
    std::uint64_t images = 0;
    for (const auto& entry : list_environments(context, stop).entries)
        if (entry.machine.empty() && entry.form == "image")
            images += static_cast<std::uint64_t>(std::max<std::int64_t>(entry.size, 0));
    report.parts = {{"snapshots and outputs", size_of("store")},
                    {"working copies of runs", copies},
                    {"logs and records of runs", records},
                    {"environments", size_of("envs")},
                    {"environment images", images},
                    {"history", size_of("history")},
                    {"files of MLflow clients", size_of("artifacts")},
                    {"other hosts (cache)", size_of("cache")}};
    for (auto& [id, use] : projects)
        report.projects.push_back(std::move(use));
    std::ranges::stable_sort(report.projects, [](const auto& left, const auto& right) {
        return left.copies + left.records > right.copies + right.records;
    });
    std::error_code problem;
    const auto space = std::filesystem::space(context.home, problem);
    if (!problem) {
        report.free = space.available;
        report.size = space.capacity;
    }
    return report;
}

CopyRules copy_rules(const std::vector<std::string>& variables)
{
    const auto days = std::min(setting(variables, "PONK_COPY_KEEP_DAYS", default_days), most_days);
    return {.largest_age = std::chrono::hours(days * 24),
            .largest_size = static_cast<std::uint64_t>(
                setting(variables, "PONK_COPY_KEEP_SIZE", default_size))};
}

Result<std::vector<PrunedCopy>> copies_to_prune(const Context& context,
                                                const CopyRules& rules,
                                                const std::string& project,
                                                const std::stop_token& stop)
{
    std::vector<PrunedCopy> copies;
    TRY(for_each_run(context, project, [&](const model::Run& run) -> Result<> {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        std::error_code problem;
        const auto work = context.run_directory(run.id).work();
        if (!model::is_terminal(run.state) || run.ended == 0 ||
            !std::filesystem::exists(std::filesystem::symlink_status(work, problem)))
            return {};
        const auto all = os::disk_use(work);
        // What was noted at the end leaves out what its patterns kept.
        const auto& left = run.evidence["left"];
        const auto outputs = left.is_object() ? os::DiskUse() : os::disk_use(work / "outputs");
        copies.push_back({run,
                          all.bytes,
                          left.is_object() ? static_cast<std::uint64_t>(left.integer("files"))
                                           : all.files - std::min(outputs.files, all.files)});
        return {};
    }));
    std::ranges::stable_sort(copies, [](const PrunedCopy& left, const PrunedCopy& right) {
        return left.run.ended < right.run.ended;
    });
    std::uint64_t left = 0;
    for (const auto& copy : copies)
        left += copy.bytes;
    std::erase_if(copies, [&](const PrunedCopy& copy) {
        const auto age = std::chrono::milliseconds(patient_now() - copy.run.ended);
        const bool old = rules.largest_age.count() > 0 && age >= rules.largest_age;
        const bool too_much = rules.largest_size > 0 && left > rules.largest_size;
        if (old || too_much) left -= copy.bytes;
        return !old && !too_much;
    });
    return copies;
}

Result<PruneReport>
plan_prune(const Context& context, const PruneRules& rules, const std::stop_token& stop)
{
    PruneReport report;
    report.copies = TRY(copies_to_prune(context, rules.copies, rules.project, stop));
    if (rules.environments.largest_age.count() > 0)
        report.environments = unused_environments(context, rules.environments, report, stop);
    return report;
}

Result<PruneReport>
prune(const Context& context, const PruneRules& rules, const std::stop_token& stop)
{
    PruneReport report;
    for (auto& copy : TRY(copies_to_prune(context, rules.copies, rules.project, stop))) {
        const auto freed = clean_run(context, copy.run);
        if (freed) {
            report.copies.push_back(std::move(copy));
        } else {
            report.problems.push_back(
                fmt::format("run {}: {}", copy.run.id.text(), freed.error().message()));
        }
    }
    if (rules.environments.largest_age.count() > 0) {
        auto garbage = collect_environments(context, rules.environments, stop);
        report.environments = std::move(garbage.removed);
        std::ranges::move(garbage.problems, std::back_inserter(report.problems));
    }
    if (rules.store == PruneRules::Store::collect) {
        const auto before = os::disk_use(context.home / "store").bytes;
        // Asked for: what no run uses goes now, not after two weeks.
        const auto collected = collect_garbage(context, CollectWhen::now, stop);
        if (!collected) report.problems.push_back(collected.error().message());
        const auto after = os::disk_use(context.home / "store").bytes;
        report.store_bytes = before - std::min(before, after);
    }
    return report;
}

}  // namespace ponk::engine
