// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.hpp"

#include "api/native/imports.hpp"
#include "audit/audit_log.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/version.hpp"
#include "daemon/executors.hpp"
#include "daemon/home_watch.hpp"
#include "daemon/janitor.hpp"
#include "daemon/lifetime.hpp"
#include "daemon/listeners.hpp"
#include "daemon/recovery.hpp"
#include "daemon/request_handler.hpp"
#include "engine/engine.hpp"
#include "engine/files/run_files.hpp"
#include "engine/maintenance/disk.hpp"
#include "engine/maintenance/environments.hpp"
#include "executor/run_directory/home_format.hpp"
#include "net/server.hpp"
#include "os/private_folder.hpp"
#include "os/socket.hpp"
#include "os/variables.hpp"
#include "os/wait.hpp"
#include "webui/page_files.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

// Each run has threads of its own for a while. The allocator would keep a heap for each and, after
// the first large buffer, keep such buffers too: an idle daemon has to be small.
void keep_memory_small()
{
    constexpr int large = 256 * 1024;
    ::mallopt(M_ARENA_MAX, 4);
    ::mallopt(M_MMAP_THRESHOLD, large);
    ::mallopt(M_TRIM_THRESHOLD, large);
}

// Runs whose folders are gone are over as far as anybody can ever tell: says so to whoever follows
// them.
void tell_followers(engine::Engine& engine, const Error& loss)
{
    const auto deadline = after(2s);
    while (engine.active_runs() > 0 && Deadline::clock::now() < deadline) {
        engine.give_up_lost_runs(loss);  // a large folder is not removed at once
        os::sleep_for(10ms, {});
    }
    os::sleep_for(200ms, {});  // for the answers
}

// Whoever removed the program wants no daemon of it; who replaced it wants one of the other, which
// the next command starts. A pinned port has clients that could not start one.
bool program_is_gone(bool pinned)
{
    struct stat program {};
    if (::stat("/proc/self/exe", &program) != 0 || program.st_nlink > 0) return false;
    if (!pinned) return true;
    char name[4096];
    const ssize_t length = ::readlink("/proc/self/exe", name, sizeof name);
    if (length <= 0) return false;
    std::string_view path(name, static_cast<std::size_t>(length));
    constexpr std::string_view mark = " (deleted)";
    if (path.ends_with(mark)) path.remove_suffix(mark.size());
    return ::access(std::string(path).c_str(), F_OK) != 0;
}

constexpr auto idle_without_program = std::chrono::milliseconds(3s).count();

// The daemon's main thread: waits for a reason to end. `tidy` is called each second.
std::string wait_for_end(const Options& options,
                         const Signals& signals,
                         const os::Bell& stop_bell,
                         const HomeWatch& home,
                         const net::Server& server,
                         const api::Endpoints& endpoints,
                         engine::Engine& engine,
                         const std::function<void()>& tidy)
{
    auto quiet_since = boot_milliseconds();
    auto idle_since = quiet_since;
    auto served = server.requests_served();
    bool was_busy = true;
    std::vector<int> fds{signals.fd(), stop_bell.fd()};
    if (home.fd() >= 0) fds.push_back(home.fd());
    for (;;) {
        const auto woken = os::wait_any(fds, after(1s), {});
        if (const auto loss = home.loss()) {
            if (home.is_removed()) tell_followers(engine, *loss);
            return loss->message();
        }
        if (woken && *woken == 0) return "signal";
        if (woken && *woken == 1) return "asked to stop";
        if (woken) home.silence();
        tidy();
        if (const auto failure = engine.context().history.failure())
            return "the database can no longer be used: " + failure->message();
        const auto now = boot_milliseconds();
        const bool busy = engine.active_runs() > 0 || server.requests_served() != served;
        served = server.requests_served();
        // Clients of a port that was told to them cannot start a daemon.
        const bool pinned = endpoints.note().pinned;
        if (busy) idle_since = now;
        if (busy || pinned) quiet_since = now;
        // What a large run or answer needed goes back to the system once it is quiet.
        if (was_busy && !busy) ::malloc_trim(0);
        was_busy = busy;
        const auto limit = std::chrono::milliseconds(options.idle_limit).count();
        if (limit > 0 && now - quiet_since > limit) return "idle";
        if (limit > 0 && now - idle_since > idle_without_program && program_is_gone(pinned))
            return "its program was removed";
    }
}

// How long a start waits for runs that ended without a daemon, so that the first answer has their
// end. What takes longer (outputs of many gigabytes) is shown as it is: Finalizing.
constexpr auto wait_limit = 3s;
constexpr auto import_limit = 8s;

// Takes up what is known of runs, from the database and, where that was lost, from their folders.
// Returns ended runs whose metrics are still to be read.
Result<MetricsToRead> bring_back_runs(engine::Engine& engine)
{
    const auto& context = engine.context();
    const auto known = TRY(context.history.list_runs(
        {.hidden = store::RunFilter::Hidden::include, .before = std::nullopt, .limit = 1}));
    MetricsToRead left;
    if (context.history.opening().must_import() || known.runs.empty() ||
        TRY(import_is_unfinished(context.history))) {
        left.runs = TRY(import_run_directories(context));
        if (!left.runs.empty())
            left = import_metrics(context, std::move(left), after(import_limit));
    }
    TRY(engine.recover());
    engine.wait_for_supervisors(after(wait_limit));
    return left;
}

Result<store::Sync> sync_of(const Options& options)
{
    auto word = options.sync;
    if (word.empty()) word = os::variable(os::own_variables(), "PONK_SYNC");
    const auto sync = store::parse_sync(word.empty() ? "full" : word);
    if (sync) return *sync;
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("PONK_SYNC is '{}'", printable(word)),
                                "It may be 'full' or 'normal'."));
}

Result<std::vector<net::Listener>> open_listeners(const Options& options, api::Endpoints& endpoints)
{
    auto listeners = listen_on_loopback(endpoints, options.home, log_line);
    if (!options.serve) return listeners;
    for (auto& listener : TRY(listen_as_told(*options.serve, endpoints)))
        listeners.push_back(std::move(listener));
    return listeners;
}

}  // namespace

Result<> run(const Options& options)
{
    const Signals signals;
    leave_cgroup();
    keep_memory_small();
    ::umask(077);
    TRY(os::make_directories(options.home));
    TRY(os::check_private(options.home));
    if (options.purpose == Options::Purpose::look) {
        TRY(executor::HomeFormat::look(options.home));
        if (options.on_ready) options.on_ready({});
        return {};
    }
    const auto home_lock = TRY(take_home(options.home));
    const auto format = TRY(executor::HomeFormat::look(options.home));
    const auto history = TRY(store::History::open(options.home / "history", TRY(sync_of(options))));
    history->compact_later(std::chrono::seconds(2));
    if (!history->opening().notice.empty()) log_line(history->opening().notice);
    // Behind the database, whose new version keeps earlier programs out.
    const auto upgraded = TRY(format.upgrade());
    if (upgraded.converted > 0)
        log_line(fmt::format("converted {} runs of an earlier version", upgraded.converted));
    for (const auto& problem : upgraded.problems)
        log_line(problem);
    audit::AuditLog audit(options.home, log_line);  // longer than whoever answers
    const auto objects = TRY(snapshot::ObjectStore::open(options.home / "store"));
    secrets::Secrets secrets(options.home);
    engine::Notifier notifier;
    auto executors = TRY(make_executors(options, {objects, *history, notifier}));
    RunRequestHandler run_request_handler;
    engine::Engine engine(
        engine::Context{options.home,
                        *history,
                        objects,
                        secrets,
                        executors,
                        notifier,
                        engine::environment_rules(os::own_variables()),
                        engine::copy_rules(os::own_variables()),
                        [&run_request_handler](const RunId& run, const Json& ask) {
                            return run_request_handler.answer(run, ask);
                        }},
        engine::queue_rules(os::own_variables()));
    if (const auto swept = engine::client_files(engine.context()).sweep(); !swept)
        log_line("halves of artifacts could not be removed: " + swept.error().message());
    const auto without_metrics = TRY(bring_back_runs(engine));

    const auto socket = options.home / "daemon.sock";
    ::unlink(socket.c_str());  // we hold the home, so whoever bound it is gone
    auto listener = TRY(os::listen_unix(socket));
    const os::Bell stop_bell;
    const auto tokens = TRY(api::Tokens::open(options.home));
    if (!tokens->notice().empty()) log_line(tokens->notice());
    const auto sessions = TRY(api::Sessions::open(options.home, *tokens));
    if (!sessions->notice().empty()) log_line(sessions->notice());
    api::LoginCodes codes(boot_milliseconds);
    const api::SignedAddresses addresses;
    const auto page = TRY(webui::PageFiles::open(webui::embedded_page()));
    api::Endpoints endpoints(options.home);
    api::Imports imports;
    auto listeners = TRY(open_listeners(options, endpoints));
    listeners.push_back({.socket = std::move(listener)});
    const auto services = std::make_shared<const api::Services>(
        api::Services{engine,
                      socket.native(),
                      wall_milliseconds(),
                      [&stop_bell](const std::string& reason) {
                          log_line("asked to stop: " + reason);
                          stop_bell.ring();
                      },
                      tokens.get(),
                      &endpoints,
                      &imports,
                      &audit,
                      sessions.get(),
                      &codes,
                      &addresses,
                      &page});
    run_request_handler.open(services);
    const HomeWatch home(options.home, home_lock);
    RequestHandler request_handler(*services, home, stop_bell, log_line);
    std::string reason;
    {
        const net::Server server(std::move(listeners), request_handler.handlers());
        const Janitor janitor(engine.context(), without_metrics, log_line);
        log_line(fmt::format(
            "version {} serves {} {}", own_version(), socket.native(), endpoints.uri()));
        if (options.on_ready) options.on_ready(endpoints.addresses);
        reason = wait_for_end(options, signals, stop_bell, home, server, endpoints, engine, [&] {
            codes.drop_expired();
            services->prompts->tidy([&sessions](const std::string& id) {
                return sessions->find_by_id(id).has_value();
            });
        });
        // Whatever hangs, we end: everything that counts is on disk already.
        ::alarm(10);
        os::sleep_for(30ms, {});  // the answer to the one who asked us to stop
        // Newcomers start the next daemon. In another folder of that name it may be there already.
        if (!home.loss()) ::unlink(socket.c_str());
    }
    services->prompts->end_all();
    run_request_handler.close();
    log_line("stops: " + reason);
    if (const auto loss = home.loss()) return tl::unexpected(*loss);
    return {};
}

}  // namespace ponk::daemon
