// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/job/job.hpp"
#include "os/fd.hpp"
#include "os/wait.hpp"

#include <map>
#include <set>
#include <thread>
#include <vector>

namespace ponk::executor {

// Tells at once when something changes in a run directory, and takes away supervisors that have
// ended. One inotify descriptor (a user has few) and one thread serve all runs. Any thread may
// call.
class Watcher {
public:
    Watcher();
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    // While it lives, its bell rings at each change of the folder or of its journals.
    class Subscription {
    public:
        Subscription(Watcher& watcher, const Path& directory);
        ~Subscription();
        Subscription(const Subscription&) = delete;
        Subscription& operator=(const Subscription&) = delete;
        [[nodiscard]] const os::Bell& bell() const noexcept { return bell_; }
        // False: no watch could be had (the user's limit is used up), so look now and then.
        [[nodiscard]] bool works() const noexcept { return works_; }

    private:
        Watcher& watcher_;
        os::Bell bell_;
        std::vector<int> watches_;
        bool works_ = false;
    };

    // Reaps this child of ours when it ends.
    void reap_later(os::Fd pidfd);

private:
    struct State {
        std::map<int, std::set<const os::Bell*>> bells;  // by inotify watch
        std::vector<os::Fd> children;
    };
    void work(const std::stop_token& stop);
    void ring();

    os::Fd inotify_;
    os::Bell changed_;  // the thread must look at `children` again
    Synced<State> state_;
    std::jthread thread_;
};

}  // namespace ponk::executor
