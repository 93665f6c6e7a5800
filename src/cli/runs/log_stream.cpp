// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/log_stream.hpp"

#include "os/wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unistd.h>

namespace ponk::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A silent script is normal, a silent daemon is not: after so long it is asked whether it lives.
constexpr seconds quiet_limit{10};
// How long a daemon may be away before a follower gives up.
constexpr seconds patience{60};

std::string target_of(const LogRequest& request, std::uint64_t offset)
{
    return fmt::format("/runs/{}/log?offset={}{}{}",
                       request.run,
                       offset,
                       request.follow == Follow::yes ? "&follow=1" : "",
                       request.form == LogForm::raw ? "&raw=1" : "");
}

// Gets the daemon back, or says when it is time to give up.
Result<>
come_back(Daemon& daemon, const Error& reason, Deadline& give_up, const std::stop_token& stop)
{
    if (reason.kind() != ErrorKind::unavailable && reason.kind() != ErrorKind::timeout) {
        return tl::unexpected(reason);
    }
    milliseconds pause(10);
    for (;;) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while waiting");
        auto again = daemon.again();
        if (again) return {};
        // One that is there and has been silent all this time hangs: waiting does not help.
        if (again.error().kind() == ErrorKind::timeout) return again;
        if (Deadline::clock::now() >= give_up) return again;
        os::sleep_for(pause, stop);
        pause = std::min(pause * 2, milliseconds(1000));
    }
}

}  // namespace

LogWriter::LogWriter(int fd, std::function<void()> before)
    : fd_(fd), before_(std::move(before)), terminal_(::isatty(fd) == 1)
{
}

Result<> LogWriter::write(std::string_view bytes)
{
    if (!terminal_) return os::write_all(fd_, bytes);
    if (before_) before_();
    shown_.clear();
    filter_.feed(bytes, shown_);
    return os::write_all(fd_, shown_);
}

Result<> LogWriter::finish()
{
    if (!terminal_) return {};
    shown_.clear();
    filter_.finish(shown_);
    return os::write_all(fd_, shown_);
}

Result<std::uint64_t>
copy_log(Daemon& daemon, const LogRequest& request, LogWriter& writer, std::stop_token stop)
{
    std::uint64_t offset = request.offset;
    std::optional<Error> write_failure;
    Deadline give_up = after(patience);
    const auto sink = [&](std::string_view bytes) {
        auto written = writer.write(bytes);
        if (!written) {
            write_failure =
                Error(ErrorKind::damaged, "write the log: " + written.error().message());
            return false;
        }
        offset += bytes.size();
        give_up = after(patience);
        return true;
    };
    for (;;) {
        const auto ended = daemon.stream_reply(target_of(request, offset), sink, quiet_limit, stop);
        if (write_failure) return tl::unexpected(*write_failure);
        // An answer is an answer: only a daemon that went away is worth another try.
        if (ended && ended->status >= 400) return tl::unexpected(net::error_of(*ended));
        if (ended) break;
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while following");
        const Error& reason = ended.error();
        // Silence alone is not a failure: a daemon that still answers gets its full time again.
        const bool alive = reason.kind() == ErrorKind::timeout &&
                           daemon.get("/runs/" + request.run, seconds(10)).has_value();
        if (alive) {
            give_up = after(patience);
            continue;
        }
        TRY(come_back(daemon, reason, give_up, stop));
    }
    TRY(writer.finish());
    return offset - request.offset;
}

Result<std::optional<Error>> find_log_damage(Daemon& daemon, const std::string& run)
{
    const auto path = "/runs/" + run + "/log/check";
    const Json answer = TRY(daemon.get(path, std::chrono::minutes(10)));
    const Json& problem = answer["problem"];
    if (!problem.is_object()) return std::nullopt;
    // So that the run shows it. The answer matters more than that it is kept.
    static_cast<void>(daemon.send("POST", path));
    return Error(
        error_kind_from(problem.text("kind")), problem.text("message"), problem.text("hint"));
}

}  // namespace ponk::cli
