// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace ponk::snapshot {

// Runs tasks that may add further tasks, until none is left or one fails. The thread that calls
// `run` works too; helpers are started only once there is more than it can do at a time, so a small
// tree costs no thread. The youngest task goes first, which keeps few things open at once.
class WorkPool {
public:
    // Gets the number of the worker, 0 to size()-1, for state that is the worker's own.
    using Task = std::function<Result<>(std::size_t worker)>;

    // 0 threads: as many as there are processors, at most 8.
    explicit WorkPool(unsigned threads, std::stop_token stop = {});

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    // From inside tasks, or before `run`.
    void add(Task task);
    // Returns the first failure after all threads have ended, `cancelled` when asked to stop.
    Result<> run();

private:
    void work(std::size_t worker);

    std::size_t size_;
    std::stop_token stop_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Task> tasks_;
    std::size_t active_ = 0;
    bool running_ = false;
    std::optional<Error> error_;
    std::vector<std::jthread> helpers_;
};

}  // namespace ponk::snapshot
