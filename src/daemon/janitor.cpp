// SPDX-License-Identifier: Apache-2.0
#include "daemon/janitor.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "daemon/recovery.hpp"
#include "engine/environments.hpp"
#include "engine/maintenance.hpp"
#include "os/wait.hpp"

#include <pthread.h>

namespace ponk::daemon {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t day_ms = std::int64_t{24} * 3600 * 1000;

// True when the chore was not done within the last `every_ms`, and notes that it is done now. Kept
// in the database: most daemons live shorter than the interval.
bool due(store::History& history, const std::string& chore, std::int64_t every_ms)
{
    const auto stored = history.find_setting("janitor." + chore);
    const auto now = wall_milliseconds();
    const auto last = stored && *stored ? parse_integer(**stored).value_or(0) : 0;
    if (last <= now && now - last < every_ms) return false;
    return static_cast<bool>(history.put_setting("janitor." + chore, std::to_string(now)));
}

}  // namespace

Janitor::Janitor(const engine::Context& context, MetricsToRead without_metrics)
    : context_(context), without_metrics_(std::move(without_metrics))
{
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
    while (os::sleep_for(5min, stop)) {
        without_metrics_ = {std::move(without_metrics_.put_off)};
        read_metrics(stop);
        static_cast<void>(context_.history.settle_all());
        if (due(context_.history, "garbage", day_ms)) {
            static_cast<void>(engine::collect_garbage(context_, stop));
            static_cast<void>(engine::remove_stray_folders(context_));
            static_cast<void>(engine::remove_stray_artifacts(context_));
        }
        if (due(context_.history, "environments", day_ms))
            static_cast<void>(
                engine::collect_environments(context_, context_.environment_rules, stop));
        if (due(context_.history, "backup", day_ms))
            static_cast<void>(context_.history.make_backup());
        if (due(context_.history, "integrity", 7 * day_ms))
            static_cast<void>(context_.history.check_integrity());
    }
}

}  // namespace ponk::daemon
