// SPDX-License-Identifier: Apache-2.0
#include "engine/context/log_check.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <unistd.h>

namespace ponk::engine {

namespace {

constexpr std::uint64_t small_log = std::uint64_t{64} << 20;
constexpr std::size_t block = std::size_t{1} << 20;
constexpr std::size_t most_known = 1000;

Error damage(const LogFile& log, const std::string& what)
{
    return {ErrorKind::damaged,
            fmt::format("the log of run '{}' {}", log.id.text(), what),
            "The original log is lost; 'ponk experiment rerun' repeats the run."};
}

Result<Digest> digest_of(int fd, const std::stop_token& stop)
{
    Sha256 hash;
    for (std::uint64_t at = 0;;) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        const auto bytes = TRY(os::read_at(fd, at, block));
        if (bytes.empty()) return hash.finish();
        hash.update(bytes);
        at += bytes.size();
    }
}

}  // namespace

std::optional<Digest> LogDigests::find(const RunId& id, const os::FileStatus& status)
{
    const auto known = known_.lock();
    const auto at = known->find(id.text());
    if (at == known->end() || !at->second.status.same_version(status)) return std::nullopt;
    return at->second.digest;
}

void LogDigests::remember(const RunId& id, const os::FileStatus& status, const Digest& digest)
{
    const auto known = known_.lock();
    if (known->size() >= most_known) known->clear();
    known->insert_or_assign(id.text(), Known{status, digest});
}

LogPromise log_promise(const model::ExitRecord& exit)
{
    return {exit.log_length, exit.log_sha256};
}

std::optional<LogPromise> log_promise(const model::Run& run)
{
    if (!model::is_terminal(run.state) || !run.evidence.is_object() ||
        !run.evidence["log_length"].is_integer())
        return std::nullopt;
    return LogPromise{static_cast<std::uint64_t>(run.evidence.integer("log_length")),
                      run.evidence.text("log_sha256")};
}

Result<std::optional<Error>> find_log_damage(const LogFile& log,
                                             const LogPromise& promise,
                                             LogDepth depth,
                                             LogDigests& digests,
                                             std::stop_token stop)
{
    const auto file = os::open_regular(log.path, os::Links::refuse);
    if (!file && promise.length == 0) return std::nullopt;
    if (!file) {
        return damage(
            log, fmt::format("is missing: it had {} bytes when the run ended", promise.length));
    }
    os::FileStatus status;
    if (const int failed = os::status_of(file->get(), status); failed != 0)
        return fail_errno(failed, "check {}", os::in_quotes(log.path));
    if (status.size < promise.length) {
        return damage(
            log,
            fmt::format("was truncated: {} of its {} bytes are left", status.size, promise.length));
    }
    if (status.size > promise.length) {
        return damage(log,
                      fmt::format("grew after the run had ended: it has {} bytes, and had {}",
                                  status.size,
                                  promise.length));
    }
    if (promise.sha256.empty()) return std::nullopt;
    auto digest = digests.find(log.id, status);
    if (!digest &&
        (depth == LogDepth::known || (depth == LogDepth::cheap && status.size > small_log)))
        return std::nullopt;
    if (!digest) {
        digest = TRY(digest_of(file->get(), stop));
        digests.remember(log.id, status, *digest);
    }
    if (digest->text() == promise.sha256) return std::nullopt;
    return damage(log, "was changed: its checksum differs from the one at the run's end");
}

Result<std::optional<Error>> find_log_damage(const LogFile& log,
                                             const model::Run& run,
                                             LogDepth depth,
                                             LogDigests& digests,
                                             std::stop_token stop)
{
    const bool elsewhere =
        run.imported != 0 && ::access(log.path.c_str(), F_OK) != 0 && errno == ENOENT;
    if (elsewhere) return std::nullopt;
    if (const auto promise = log_promise(run))
        return find_log_damage(log, *promise, depth, digests, stop);
    // Before the script begins there is none to lose.
    if (run.state == model::RunState::lost && run.started != 0 &&
        !os::open_regular(log.path, os::Links::refuse))
        return damage(log, "is missing");
    return std::nullopt;
}

}  // namespace ponk::engine
