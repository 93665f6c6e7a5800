// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include "api/router.hpp"
#include "base/time.hpp"
#include "daemon/janitor.hpp"
#include "daemon/lifetime.hpp"
#include "daemon/recovery.hpp"
#include "engine/engine.hpp"
#include "net/server.hpp"
#include "os/socket.hpp"
#include "os/wait.hpp"
#include "snapshot/materialise.hpp"
#include "snapshot/take_snapshot.hpp"
#include "target/local/local_executor.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::daemon {

namespace {

using namespace std::chrono_literals;

// One line to daemon.log: who reads it wants to know when.
void log_line(const std::string& text)
{
    const auto line = utc_text(wall_milliseconds()) + " " + text + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
}

Result<std::unique_ptr<target::Executor>> make_local(const os::Path& home,
                                                     const snapshot::ObjectStore& objects)
{
    target::local::Options options;
    options.home = home;
    options.materialise = [&objects](const Digest& id,
                                     const os::Path& destination,
                                     const target::Progress& progress,
                                     std::stop_token stop) -> Result<> {
        snapshot::MaterialiseOptions how;
        how.stop = std::move(stop);
        const auto report = TRY(snapshot::materialise(objects, id, destination, how));
        for (const auto& notice : report.notices)
            progress(notice);
        return {};
    };
    options.store = [&objects](const os::Path& folder, std::stop_token stop) -> Result<Digest> {
        snapshot::SnapshotOptions how;
        how.git = snapshot::SnapshotOptions::Git::skip;
        how.stop = std::move(stop);
        return TRY(snapshot::store_tree(objects, folder, how)).id;
    };
    return target::local::make_executor(std::move(options));
}

// The daemon's main thread: waits for a reason to end.
std::string wait_for_end(const Options& options,
                         const Signals& signals,
                         const os::Bell& stop_bell,
                         const net::Server& server,
                         engine::Engine& engine)
{
    auto quiet_since = boot_milliseconds();
    auto served = server.requests_served();
    bool was_busy = true;
    for (;;) {
        const int fds[] = {signals.fd(), stop_bell.fd()};
        const auto woken = os::wait_any(fds, after(1s), {});
        if (woken) return *woken == 0 ? "signal" : "asked to stop";
        if (const auto failure = engine.context().history.failure())
            return "the database cannot be written any more: " + failure->message();
        const auto now = boot_milliseconds();
        const bool busy = engine.active_runs() > 0 || server.requests_served() != served;
        served = server.requests_served();
        if (busy) quiet_since = now;
        // What a large run or answer needed goes back to the system once it is quiet.
        if (was_busy && !busy) ::malloc_trim(0);
        was_busy = busy;
        const auto limit = std::chrono::milliseconds(options.idle_limit).count();
        if (limit > 0 && now - quiet_since > limit) return "idle";
    }
}

}  // namespace

Result<> run(const Options& options)
{
    const Signals signals;
    ::umask(077);
    TRY(os::make_directories(options.home));
    const auto home_lock = TRY(take_home(options.home));
    const auto history = TRY(store::History::open(options.home / "history"));
    if (!history->opening().notice.empty()) log_line(history->opening().notice);
    const auto objects = TRY(snapshot::ObjectStore::open(options.home / "store"));
    secrets::Secrets secrets(options.home);
    engine::Notifier notifier;
    std::map<std::string, std::unique_ptr<target::Executor>> executors;
    executors.emplace("local", TRY(make_local(options.home, objects)));
    engine::Engine engine(
        engine::Context{options.home, *history, objects, secrets, executors, notifier});
    const auto known = TRY(history->list_runs(
        {.hidden = store::RunFilter::Hidden::include, .before = std::nullopt, .limit = 1}));
    if (history->opening().must_import() || known.runs.empty())
        TRY(import_run_directories(engine.context()));
    TRY(engine.recover());

    const auto socket = options.home / "daemon.sock";
    ::unlink(socket.c_str());  // we hold the home, so whoever bound it is gone
    auto listener = TRY(os::listen_unix(socket));
    const os::Bell stop_bell;
    const api::Services services{
        engine, socket.native(), wall_milliseconds(), [&stop_bell](const std::string& reason) {
            log_line("asked to stop: " + reason);
            stop_bell.ring();
        }};
    std::string reason;
    {
        const net::Server server(std::move(listener), [&services](const net::Request& request) {
            return api::dispatch(services, request);
        });
        const Janitor janitor(engine.context());
        log_line(fmt::format("version " PONK_VERSION " serves {}", socket.native()));
        if (options.ready_fd >= 0) {
            static_cast<void>(os::write_all(options.ready_fd, "ready\n"));
            ::close(options.ready_fd);
        }
        reason = wait_for_end(options, signals, stop_bell, server, engine);
        // Whatever hangs, we end: everything that counts is on disk already.
        ::alarm(10);
        os::sleep_for(30ms, {});   // the answer to the one who asked us to stop
        ::unlink(socket.c_str());  // newcomers start the next daemon
    }
    log_line("stops: " + reason);
    return {};
}

}  // namespace ponk::daemon
