// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "relay/experiment_names.hpp"
#include "relay/histories.hpp"
#include "relay/journal.hpp"
#include "relay/tracked_state.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace ponk::relay {

// The state and its journal, kept alike. Any thread may call; who writes at the same time shares
// one flush of the disk.
class Recorder {
public:
    static Result<std::unique_ptr<Recorder>> open(const model::Tracking& tracking,
                                                  const os::Path& journals);

    // The records that make the change; none when there is nothing to do. Called with the state as
    // it will be when everything before is on the disk.
    using Change = std::function<Result<JsonArray>(const TrackedState& state)>;
    // When it returns, the change is on the disk, and so is everything that it was based on. When
    // it fails, nothing of it is there.
    Result<> write(const Change& change);

    template <class Look>
    auto look(Look&& look) const
    {
        const std::lock_guard lock(mutex_);
        return look(state_);
    }

    // Points of metrics as they were written, by a relay before us too.
    [[nodiscard]] Histories& histories() noexcept { return histories_; }
    [[nodiscard]] const model::Tracking& tracking() const noexcept { return tracking_; }
    [[nodiscard]] ExperimentNames& names() const noexcept { return *names_; }

private:
    struct Batch {
        std::string records;
        std::optional<Result<>> outcome;
    };
    using Lock = std::unique_lock<std::mutex>;

    Recorder(const model::Tracking& tracking, const os::Path& journals);
    void commit(Lock& lock);
    void read_again(Lock& lock);
    [[nodiscard]] Result<TrackedState> read_state() const;

    model::Tracking tracking_;
    std::unique_ptr<ExperimentNames> names_;
    Journal journal_;  // of who commits
    Histories histories_;
    // Guards all below; a condition waits with it, so no Synced.
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    TrackedState state_;
    std::shared_ptr<Batch> open_ = std::make_shared<Batch>();  // shared by those who wait for it
    bool committing_ = false;
    bool stale_ = false;  // the state holds what was refused
};

}  // namespace ponk::relay
