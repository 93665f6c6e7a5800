// SPDX-License-Identifier: Apache-2.0
// ponk-relay DIRECTORY SOCKET: answers MLflow's clients of one run on the run's own loopback. The
// first is the run directory, the second the number of a listening descriptor. Started by the run's
// supervisor when the first client comes, and again when it died and the next one does.
#include "base/text.hpp"
#include "os/file.hpp"
#include "relay/serve.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace ponk::relay {
namespace {

constexpr int most_connections = 1000;
constexpr int look_interval_ms = 1000;

// The supervisor, its guard and the script have it. Nobody has: the run is over, and we are what is
// left of it.
bool is_run_alive(const os::Path& directory)
{
    const os::Fd lock(::open((directory / "lock").c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    struct flock whole {};
    whole.l_type = F_WRLCK;
    return lock && ::fcntl(lock.get(), F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

class Connections {
public:
    Connections(Recorder& recorder, ForwardedRequests& asks) : recorder_(recorder), forwarded_(asks)
    {
    }

    // Each has a thread, which ends with it or with the process.
    void take(os::Fd socket)
    {
        if (count_->load() >= most_connections) return;  // closes it
        ++*count_;
        std::thread([socket = std::move(socket),
                     count = count_,
                     &recorder = recorder_,
                     &asks = forwarded_]() mutable {
            serve(std::move(socket), recorder, asks);
            --*count;
        }).detach();
    }

private:
    Recorder& recorder_;
    ForwardedRequests& forwarded_;
    std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

Result<> run(const os::Path& directory, os::Fd listener)
{
    const auto tracking = TRY(model::parse_tracking(TRY(os::read_file(directory / "relay"))));
    const auto recorder = TRY(Recorder::open(tracking, directory / "journal"));
    ForwardedRequests asks(*recorder, directory);
    Connections connections(*recorder, asks);
    for (;;) {
        pollfd polled{listener.get(), POLLIN, 0};
        const int ready = ::poll(&polled, 1, look_interval_ms);
        if (ready > 0) {
            os::Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (socket) connections.take(std::move(socket));
            if (!socket && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
                ::usleep(50'000);
        } else if (!is_run_alive(directory)) {
            return {};
        }
    }
}

}  // namespace
}  // namespace ponk::relay

int main(int argc, char** argv)
{
    const auto descriptor = argc == 3 ? ponk::parse_integer(argv[2]) : std::nullopt;
    if (!descriptor) {
        std::fputs("usage: ponk-relay DIRECTORY SOCKET\nAnswers the MLflow clients of one run. "
                   "Started by ponk, not by hand.\n",
                   stderr);
        return 2;
    }
    // A run that is asked to end may still have something to say: its supervisor ends us.
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE})
        ::signal(number, SIG_IGN);
    const auto done = ponk::relay::run(argv[1], ponk::os::Fd(static_cast<int>(*descriptor)));
    if (!done) std::fprintf(stderr, "ponk-relay: %s\n", done.error().message().c_str());
    ::_exit(done ? 0 : 1);
}
