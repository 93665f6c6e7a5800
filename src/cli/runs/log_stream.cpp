// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/log_stream.hpp"

#include "base/id.hpp"
#include "cli/terminal/pager.hpp"
#include "model/target_type.hpp"
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
    return fmt::format("/runs/{}/log?offset={}{}{}{}",
                       request.run,
                       offset,
                       request.from > 0 ? fmt::format("&from={}", request.from) : "",
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

ProjectPaths::ProjectPaths(std::vector<std::string> copies, std::string project)
    : copies_(std::move(copies)), project_(std::move(project))
{
}

std::string ProjectPaths::feed(std::string_view bytes)
{
    if (copies_.empty()) return std::string(bytes);
    held_ += bytes;
    std::string out;
    std::size_t done = 0;
    for (std::size_t at = held_.find('/'); at != held_.npos; at = held_.find('/', at)) {
        const auto rest = std::string_view(held_).substr(at);
        const auto fits = [&](const std::string& copy) { return rest.starts_with(copy); };
        const auto may_fit = [&](const std::string& copy) { return copy.starts_with(rest); };
        if (const auto copy = std::ranges::find_if(copies_, fits); copy != copies_.end()) {
            out.append(held_, done, at - done);
            out += project_;
            at += copy->size();
            done = at;
        } else if (std::ranges::any_of(copies_, may_fit)) {
            out.append(held_, done, at - done);
            held_.erase(0, at);
            return out;
        } else {
            ++at;
        }
    }
    out.append(held_, done);
    held_.clear();
    return out;
}

std::string ProjectPaths::finish()
{
    return std::exchange(held_, {});
}

ProjectPaths project_paths(const os::Path& home, const Json& run)
{
    const auto project = run.text("project_path");
    const auto target = model::target_type_from(run.text("target_type"));
    if (!project.starts_with('/') || !target) return {};
    const auto id = RunId::parse(run.text("run_id"));
    if (!id) return {};
    std::vector<std::string> copies;
    if (model::uses_docker(*target)) {
        copies.emplace_back("/azureml-run/");
    } else {
        copies.push_back((home / "runs" / id->text() / "work" / "").native());
    }
    return {std::move(copies), (os::Path(project) / "").native()};
}

LogWriter::LogWriter(int fd, std::function<void()> before, ProjectPaths paths)
    : fd_(fd), before_(std::move(before)), terminal_(::isatty(fd) == 1), paths_(std::move(paths))
{
}

Result<> LogWriter::write(std::string_view bytes)
{
    if (!terminal_) return os::write_all(fd_, bytes);
    if (before_) before_();
    shown_.clear();
    filter_.feed(paths_.feed(bytes), shown_);
    return give(shown_);
}

Result<> LogWriter::finish()
{
    if (!terminal_) return {};
    shown_.clear();
    filter_.feed(paths_.finish(), shown_);
    filter_.finish(shown_);
    TRY(give(shown_));
    auto rest = lines_.finish();
    // A last line without an end, or a progress bar, is not to share its line with what comes next.
    if (!rest.empty()) last_ = rest.back();
    if (last_ != '\n') rest += '\n';
    return os::write_all(Pager::way_of(fd_), rest);
}

Result<> LogWriter::give(const std::string& shown)
{
    const int way = Pager::way_of(fd_);
    const auto out = way == fd_ ? shown : lines_.feed(shown);
    if (!out.empty()) last_ = out.back();
    return os::write_all(way, out);
}

void OverwrittenLines::take(char c, std::string& out)
{
    constexpr std::size_t longest = std::size_t{64} << 10;
    if (c == '\r') {
        returned_ = true;
        return;
    }
    if (returned_ && c != '\n') line_.clear();
    returned_ = false;
    line_ += c;
    if (c != '\n' && line_.size() < longest) return;
    out += line_;
    line_.clear();
}

std::string OverwrittenLines::feed(std::string_view bytes)
{
    std::string out;
    for (const char c : bytes)
        take(c, out);
    return out;
}

std::string OverwrittenLines::finish()
{
    return std::exchange(line_, {});
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
        if (ended && ended->status >= 400) return tl::unexpected(daemon.error_of(*ended));
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

Result<std::uint64_t> find_log_tail(Daemon& daemon, const std::string& run, std::uint64_t lines)
{
    const Json answer = TRY(daemon.get(fmt::format("/runs/{}/log/tail?lines={}", run, lines)));
    return static_cast<std::uint64_t>(std::max<std::int64_t>(answer.integer("from"), 0));
}

Result<std::optional<Error>> find_log_damage(Daemon& daemon, const std::string& run)
{
    const auto path = "/runs/" + run + "/log/check";
    const Json answer = TRY(daemon.get(path, std::chrono::minutes(10)));
    const Json& problem = answer["problem"];
    if (!problem.is_object()) return std::nullopt;
    // So that the run shows it. The answer matters more than that it is kept, which who may only
    // read need not ask for.
    if (!daemon.server()) static_cast<void>(daemon.send("POST", path));
    return Error(
        error_kind_from(problem.text("kind")), problem.text("message"), problem.text("hint"));
}

}  // namespace ponk::cli
