// SPDX-License-Identifier: Apache-2.0
#include "daemon/janitor.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "daemon/recovery.hpp"
#include "engine/maintenance/disk.hpp"
#include "engine/maintenance/environments.hpp"
#include "engine/maintenance/maintenance.hpp"
#include "engine/run/trim_copies.hpp"
#include "os/variables.hpp"
#include "os/wait.hpp"

#include <fmt/format.h>

#include <pthread.h>

namespace ponk::daemon {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;

// Those that cannot be read are told with the path of the store; what else is garbage went.
Result<> collect_objects(const engine::Context& context, const std::stop_token& stop)
{
    const auto report =
        TRY(engine::collect_garbage(context, engine::CollectWhen::after_grace, stop));
    if (report.unreadable.empty()) return {};
    return fail(ErrorKind::damaged,
                "{} snapshots in {} cannot be read, so {} objects that they may use are kept: {}",
                report.unreadable.size(),
                os::in_quotes(context.objects.root()),
                report.kept_objects,
                report.unreadable.front().problem);
}

Result<> told(const std::vector<std::string>& problems)
{
    if (problems.empty()) return {};
    return fail(ErrorKind::unavailable, "{}", join(problems, "; "));
}

std::string removed_text(const engine::PruneReport& report)
{
    constexpr std::size_t most_named = 10;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::vector<std::string> names;
    for (const auto& copy : report.copies) {
        files += copy.files;
        bytes += copy.bytes;
        if (names.size() < most_named) names.push_back(copy.run.id.brief());
    }
    if (report.copies.size() > most_named) names.emplace_back("…");
    return fmt::format("removed what {} run{} left outside of outputs, {} file{}, {} (limits: "
                       "PONK_COPY_KEEP_DAYS, PONK_COPY_KEEP_SIZE): {}",
                       report.copies.size(),
                       report.copies.size() == 1 ? "" : "s",
                       files,
                       files == 1 ? "" : "s",
                       byte_size_text(bytes),
                       join(names, ", "));
}

// How long to wait before each look at what is due.
std::chrono::seconds pause()
{
    const auto value = parse_integer(os::variable(os::own_variables(), "PONK_JANITOR_SECONDS"));
    return value && *value > 0 && *value <= 86'400 ? std::chrono::seconds(*value) : 5min;
}

Result<> problems_of(const executor::EnvironmentGarbage& report)
{
    return told(report.problems);
}

}  // namespace

Janitor::Janitor(const engine::Context& context, MetricsToRead without_metrics, Chores::Tell tell)
    : context_(context), without_metrics_(std::move(without_metrics)), tell_(tell),
      chores_(context.history, std::move(tell))
{
    chores_.add("compact", 0, [this](auto) { return context_.history.compact_all(); });
    chores_.add("garbage", day_ms, [this](auto stop) { return collect_objects(context_, stop); });
    chores_.add("folders", day_ms, [this](auto) {
        return engine::remove_stray_folders(context_).map([](auto) {});
    });
    chores_.add("artifacts", day_ms, [this](auto) {
        return engine::remove_stray_artifacts(context_).map([](auto) {});
    });
    chores_.add("copies", day_ms, [this](auto stop) {
        return engine::prune(context_, {.copies = context_.copy_rules}, stop)
            .and_then([this](const auto& report) {
                if (!report.copies.empty()) tell_("janitor: copies: " + removed_text(report));
                return told(report.problems);
            });
    });
    chores_.add("environments", day_ms, [this](auto stop) {
        return problems_of(
            engine::collect_environments(context_, context_.environment_rules, stop));
    });
    chores_.add(
        "backup", day_ms, [this](auto) { return context_.history.make_backup().map([](auto) {}); });
    chores_.add(
        "integrity", 7 * day_ms, [this](auto) { return context_.history.check_integrity(); });
    engine::begin_patience();
    thread_ = std::jthread([this](std::stop_token stop) { work(std::move(stop)); });
}

// What an import left over.
void Janitor::read_metrics(const std::stop_token& stop)
{
    while (!without_metrics_.runs.empty() && !stop.stop_requested())
        without_metrics_ = import_metrics(context_, std::move(without_metrics_), after(100ms));
}

void Janitor::work(std::stop_token stop)
{
    ::pthread_setname_np(::pthread_self(), "ponk-janitor");
    read_metrics(stop);
    static_cast<void>(engine::trim_copies(context_, stop));
    while (os::sleep_for(pause(), stop)) {
        without_metrics_ = {std::move(without_metrics_.put_off)};
        read_metrics(stop);
        chores_.work(wall_milliseconds(), boot_milliseconds(), stop);
    }
}

}  // namespace ponk::daemon
