// SPDX-License-Identifier: Apache-2.0
#include "snapshot/work_pool.hpp"

#include <algorithm>
#include <exception>
#include <thread>

namespace ponk::snapshot {

WorkPool::WorkPool(unsigned threads, std::stop_token stop)
    : size_(threads != 0 ? threads : std::clamp(std::thread::hardware_concurrency(), 2U, 8U)),
      stop_(std::move(stop))
{
}

void WorkPool::add(Task task)
{
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        // One waiting task will be taken by whoever is free next; more are worth a helper.
        if (running_ && !error_ && tasks_.size() > 1 && helpers_.size() + 1 < size_ &&
            active_ == helpers_.size() + 1) {
            const auto worker = helpers_.size() + 1;
            helpers_.emplace_back([this, worker] { work(worker); });
        }
    }
    changed_.notify_one();
}

void WorkPool::work(std::size_t worker)
{
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return error_ || !tasks_.empty() || active_ == 0; });
        if (!error_ && stop_.stop_requested()) error_ = Error(ErrorKind::cancelled, "stopped");
        if (error_ || tasks_.empty()) break;
        auto task = std::move(tasks_.back());
        tasks_.pop_back();
        ++active_;
        lock.unlock();
        Result<> done;
        try {
            done = task(worker);
        } catch (const std::exception& exception) {
            done = fail(ErrorKind::internal, "{}", exception.what());
        }
        task = nullptr;
        lock.lock();
        --active_;
        if (!done && !error_) error_ = done.error();
        if (active_ == 0 || error_) changed_.notify_all();
    }
    changed_.notify_all();
}

Result<> WorkPool::run()
{
    {
        const std::lock_guard lock(mutex_);
        running_ = true;
        while (helpers_.size() + 1 < std::min(size_, tasks_.size())) {
            const auto worker = helpers_.size() + 1;
            helpers_.emplace_back([this, worker] { work(worker); });
        }
    }
    work(0);
    // No task is left and none is active, or there is an error: nobody adds helpers any more once
    // the active ones have ended.
    for (;;) {
        std::vector<std::jthread> ending;
        {
            const std::lock_guard lock(mutex_);
            ending.swap(helpers_);
        }
        if (ending.empty()) break;
        ending.clear();  // joins
    }
    running_ = false;
    if (error_) return tl::unexpected(*error_);
    return {};
}

}  // namespace ponk::snapshot
