// SPDX-License-Identifier: Apache-2.0
#include "relay/recorder.hpp"

#include "model/metric_journal.hpp"

namespace ponk::relay {

Recorder::Recorder(const model::Tracking& tracking, const os::Path& journals)
    : tracking_(tracking), journal_(journals, tracking.run), histories_(journal_, tracking.run),
      state_(tracking)
{
}

Result<std::unique_ptr<Recorder>> Recorder::open(const model::Tracking& tracking,
                                                 const os::Path& journals)
{
    std::unique_ptr<Recorder> recorder(new Recorder(tracking, journals));
    recorder->state_ = TRY(recorder->read_state());
    const auto& tags = recorder->state_.own().tags;
    const auto named = tags.find(other_name_tag);
    recorder->names_ =
        std::make_unique<ExperimentNames>(tracking.experiment,
                                          tracking.experiment_name,
                                          named == tags.end() ? std::string() : named->second);
    return recorder;
}

Result<TrackedState> Recorder::read_state() const
{
    TrackedState state(tracking_);
    TRY(journal_.read([&state](std::string_view payload) {
        if (const auto record = parse_json(payload)) state.apply(*record);
    }));
    return state;
}

Result<> Recorder::write(const Change& change)
{
    Lock lock(mutex_);
    changed_.wait(lock, [this] { return !stale_ || !committing_; });
    if (stale_) read_again(lock);
    if (stale_) return fail(ErrorKind::unavailable, "the run's journal cannot be read");
    const auto records = change(state_);
    if (!records) return tl::unexpected(records.error());
    const auto batch = open_;
    for (const auto& record : *records) {
        state_.apply(record);
        batch->records += model::journal_record(record);
    }
    while (!batch->outcome) {
        if (committing_) {
            changed_.wait(lock);
        } else {
            commit(lock);
        }
    }
    return *batch->outcome;
}

// Nobody else commits, so the open batch is the one that all who wait here are in.
void Recorder::commit(Lock& lock)
{
    committing_ = true;
    const auto batch = std::exchange(open_, std::make_shared<Batch>());
    lock.unlock();
    const auto done = batch->records.empty() ? Result<>() : journal_.append(batch->records);
    lock.lock();
    batch->outcome = done;
    committing_ = false;
    if (!done) {
        // Who came meanwhile may have built upon what is not there.
        stale_ = true;
        histories_.forget();
        std::exchange(open_, std::make_shared<Batch>())->outcome = done;
        read_again(lock);
    }
    changed_.notify_all();
}

void Recorder::read_again(Lock& lock)
{
    committing_ = true;
    lock.unlock();
    auto state = read_state();
    lock.lock();
    committing_ = false;
    if (state) state_ = std::move(*state);
    stale_ = !state;
    changed_.notify_all();
}

}  // namespace ponk::relay
