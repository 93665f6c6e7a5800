// SPDX-License-Identifier: Apache-2.0
#include "daemon/recovery.hpp"

#include "engine/run/run_note.hpp"
#include "engine/tracked/journal_reader.hpp"
#include "os/directory.hpp"

namespace ponk::daemon {

namespace {

// Set until every journal of an import was read: the next daemon goes on where one was killed.
constexpr const char* unfinished_setting = "import_unfinished";

}  // namespace

Result<bool> import_is_unfinished(const store::History& history)
{
    return TRY(history.find_setting(unfinished_setting)).value_or("") == "1";
}

Result<std::vector<RunId>> import_run_directories(const engine::Context& context)
{
    std::vector<RunId> ended;
    const auto entries = os::list_directory(context.home / "runs");
    if (!entries) return ended;
    std::vector<model::Run> runs;
    for (const auto& entry : *entries) {
        const auto id = RunId::parse(entry.name);
        auto run = id ? engine::read_note(context.run_directory(*id).root()) : std::nullopt;
        if (!run || run->id != *id) continue;
        if (model::is_terminal(run->state)) ended.push_back(run->id);
        runs.push_back(std::move(*run));
    }
    if (!ended.empty()) TRY(context.history.put_setting(unfinished_setting, "1"));
    TRY(context.history.import_runs(std::move(runs)));
    return ended;
}

namespace {

// Without the run's secrets nothing that its script said may be used. False when it is to be tried
// again.
bool read_metrics(const engine::Context& context, const RunId& id)
{
    const auto run = context.history.find_run(id);
    if (!run) return false;
    if (!*run) return true;
    const auto spec = model::parse_run_spec((*run)->configuration);
    if (!spec) return true;
    const auto secrets = engine::RunSecrets::load(context, *spec);
    if (!secrets) return false;
    engine::JournalReader journals(context, id);
    while (journals.read_some(*secrets) == engine::JournalReader::Progress::more) {
    }
    return !journals.problem();
}

}  // namespace

MetricsToRead import_metrics(const engine::Context& context, MetricsToRead left, Deadline deadline)
{
    auto& runs = left.runs;
    // Newest first: those are asked for.
    while (!runs.empty() && Deadline::clock::now() < deadline) {
        if (!read_metrics(context, runs.back())) left.put_off.push_back(runs.back());
        runs.pop_back();
    }
    if (runs.empty() && left.put_off.empty())
        static_cast<void>(context.history.put_setting(unfinished_setting, "0"));
    return left;
}

}  // namespace ponk::daemon
