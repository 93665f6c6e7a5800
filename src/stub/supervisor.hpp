// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stub/files.hpp"
#include "stub/job.hpp"
#include "stub/log.hpp"
#include "stub/tree.hpp"

namespace ponk::stub {

// terminated: told to end by a signal that nobody of ours sent, as when a machine or a container
// engine is shut down.
enum class Cause { script, cancel, time_limit, terminated };

// What must outlive a supervisor that is killed. It lies in memory shared with the guard, which
// goes on from there.
struct Shared {
    volatile pid_t main;      // the script's process, 0 before there is one
    volatile bool forking;    // there may be one that has not said so yet
    volatile bool published;  // nothing is left to do
    volatile pid_t relay;     // 0 while there is none
    pid_t stub;
    pid_t guard;
    std::int64_t started;
    std::int64_t started_boot;
    Cause cause;
    std::int64_t kill_at;  // when patience ends, by boot_ms(); 0: nobody asked
    OomCount oom_before;
    std::int64_t relay_again;  // no relay is started before that, by boot_ms()
};

// Starts the script, watches it and publishes how it ended. One thread, no heap.
class Supervisor {
public:
    Supervisor(const Job& job, Shared& shared, int log, int folder, int report, int listener)
        : job_(job), shared_(shared), log_fd_(log), folder_(folder), report_(report),
          listener_(listener)
    {
        group_.make(job.run, job.token);
        publisher_.reserve();
    }

    // Takes over what is there, from any point on.
    void run();
    // The exit record is there, and ours.
    [[nodiscard]] bool is_published() const;

private:
    void start_script();
    [[noreturn]] void become_script(int failure);
    void write_pid_file(int failure);
    void connect_input();
    void execute(const char* program);  // returns when it cannot
    [[noreturn]] void give_up(int failure, const char* what, int problem);
    void find_script();
    void watch_script();
    bool script_ended();
    void take_signal(int signal_fd);
    void ask_to_end(Cause cause);
    void start_relay();
    void end_relay();
    bool note_early_end();
    void end_survivors();
    void publish();
    void write_record(Line<8192>& record);

    const Job& job_;
    Shared& shared_;
    int log_fd_;
    int folder_;
    int report_;
    int listener_;  // of the relay; -1: there is none
    Log log_;
    Group group_;
    Publisher publisher_;
    char failure_[1024] = "";
    int code_ = 0;
    int signal_ = 0;
    std::int64_t ended_ = 0;
    std::int64_t duration_ = 0;
    long survivors_ = 0;
    Line<1024> commands_;  // of the survivors
    long unkillable_ = 0;
    std::int64_t user_ms_ = 0;
    std::int64_t system_ms_ = 0;
    long max_rss_ = 0;
    char digest_[65] = "";
};

}  // namespace ponk::stub
