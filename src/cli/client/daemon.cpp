// SPDX-License-Identifier: Apache-2.0
#include "cli/client/daemon.hpp"

#include "base/api_version.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/client/daemon_start.hpp"
#include "net/target.hpp"
#include "os/private_folder.hpp"
#include "os/socket.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds start_limit{20};

// Only a socket of our own is talked to: another user's daemon would learn our environment.
Result<bool> is_ours(const os::Path& socket)
{
    struct stat info {};
    if (::lstat(socket.c_str(), &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return false;
        return tl::unexpected(
            system_error(errno, fmt::format("check socket {}", os::in_quotes(socket)))
                .with_hint(
                    "You have no access to ponk's folder: set PONK_HOME to a folder of your own."));
    }
    if (info.st_uid != ::geteuid()) {
        return tl::unexpected(Error(
            ErrorKind::conflict,
            fmt::format(
                "socket {} belongs to another user (uid {})", os::in_quotes(socket), info.st_uid),
            "Set PONK_HOME to a folder of your own, or run ponk as that user."));
    }
    if (!S_ISSOCK(info.st_mode)) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("{} is not a socket", os::in_quotes(socket)),
                  "Move the file to another place: ponk's daemon needs this name."));
    }
    return true;
}

Error no_answer(const os::Path& socket)
{
    const auto pid = os::listening_process(socket);
    return {ErrorKind::timeout,
            pid ? fmt::format(
                      "the daemon (process {}) at {} does not answer", *pid, os::in_quotes(socket))
                : fmt::format("the daemon at {} does not answer", os::in_quotes(socket)),
            pid ? how_to_end_daemon(*pid)
                : "Find 'ponk daemon run' in the process list and end it; runs are not affected."};
}

// The daemon's own words about itself, or nothing when nobody listens.
Result<std::optional<Json>> greet(net::Client& client, const os::Path& socket, milliseconds limit)
{
    auto reply = client.call("GET", "/api/v1/daemon", "", after(limit));
    if (reply && reply->status < 400) return TRY(parse_json(reply->body));
    if (reply) return tl::unexpected(net::error_of(*reply));
    const ErrorKind kind = reply.error().kind();
    if (kind == ErrorKind::unavailable || kind == ErrorKind::not_found) return std::nullopt;
    if (kind == ErrorKind::timeout) return tl::unexpected(no_answer(socket));
    return tl::unexpected(reply.error());
}

// Several installed versions share a daemon: whichever came first serves all that speak its API.
bool speaks_our_api(const Json& about)
{
    return about.integer("api") == api_version;
}

// It has runs and clients of others: only its user decides when another version takes its place.
Error other_api(const Json& about)
{
    return {ErrorKind::conflict,
            fmt::format("the daemon of ponk {} (process {}) speaks version {} of the API, and this "
                        "ponk {} speaks version {}",
                        printable(about.text("version")),
                        about.integer("pid"),
                        about.integer("api"),
                        own_version(),
                        api_version),
            "Run 'ponk daemon stop' to let the next command start its own; runs continue."};
}

// Others depend on an address that is served: whoever began that ends it.
Result<> end_other(net::Client& client, const Json& about, const std::string& reason)
{
    if (const Json& serves = about["serves"]; serves.is_array() && !serves.as_array().empty()) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format(
                      "'ponk serve' of version {} (process {}) already serves {} from this history",
                      printable(about.text("version")),
                      about.integer("pid"),
                      printable(serves.as_array().front().as_string())),
                  "Stop it first with Ctrl-C or 'ponk daemon stop'. A second server needs its own "
                  "history (PONK_HOME)."));
    }
    const std::string body = to_json(JsonObject{{"reason", reason}});
    const auto pid = static_cast<pid_t>(about.integer("pid"));
    // It may end before it has answered.
    [[maybe_unused]] const auto reply =
        client.call("POST", "/api/v1/daemon/stop", body, after(greeting_limit));
    return pid > 0 ? wait_for_end(pid, after(greeting_limit)) : Result<>{};
}

void tell(std::string_view method,
          const std::string& path,
          Deadline::clock::time_point begin,
          const Result<net::Reply>& reply)
{
    const auto span =
        std::chrono::duration_cast<milliseconds>(Deadline::clock::now() - begin).count();
    const std::string answer =
        reply ? std::to_string(reply->status) : "no answer (" + reply.error().message() + ")";
    static_cast<void>(os::write_all(
        STDERR_FILENO,
        fmt::format(
            "ponk: debug: {} {}: {}, {} ms\n", method, printable(path), printable(answer), span)));
}

}  // namespace

Result<std::optional<Daemon>> Daemon::find(const os::Path& home, milliseconds limit)
{
    const os::Path socket = home / "daemon.sock";
    TRY(os::check_private(home).map_error(while_doing("ponk's folder")));
    if (!TRY(is_ours(socket))) return std::nullopt;
    net::Client client(socket);
    auto about = TRY(greet(client, socket, limit));
    if (!about) return std::nullopt;
    return Daemon(home, std::move(client), std::move(*about));
}

Result<Daemon> Daemon::reach(const os::Path& home)
{
    auto found = TRY(find(home));
    if (found && speaks_our_api(found->about())) return std::move(*found);
    TRY(make_home(home));
    const os::Fd lock = TRY(lock_start(home, after(start_limit)));
    // While we waited for the lock, another command may have done it.
    found = TRY(find(home));
    if (found && speaks_our_api(found->about())) return std::move(*found);
    if (found) {
        // Nobody is told to stop it for one that could not serve.
        TRY(check_daemon(home, after(start_limit)));
        return tl::unexpected(other_api(found->about()));
    }
    TRY(start_daemon(home, after(start_limit)));
    found = TRY(find(home));
    if (!found) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  "the daemon started and stopped again",
                  fmt::format("See its log: {}.", os::in_quotes(home / "daemon.log"))));
    }
    // The command that started it reports what it repaired, once.
    if (const auto notice = found->about().text("notice"); !notice.empty())
        static_cast<void>(os::write_all(STDERR_FILENO, "ponk: " + printable(notice) + "\n"));
    return std::move(*found);
}

Result<os::Fd> Daemon::take_place(const os::Path& home)
{
    TRY(make_home(home));
    os::Fd lock = TRY(lock_start(home, after(start_limit)));
    if (auto found = TRY(find(home)))
        TRY(end_other(found->client_, found->about(), "replaced by 'ponk serve'"));
    return lock;
}

namespace {

net::Client client_of(const ServerAddress& server, const std::string& token)
{
    return net::Client(net::dial_server(server.place),
                       "the server " + server.url,
                       net::authority_text(server.place),
                       {{"Authorization", "Bearer " + token}});
}

// Why a server was not reached; `unavailable` is worth another try to who waits for it.
Error not_reached(const ServerAddress& server, const Error& error)
{
    const std::string hint =
        error.kind() == ErrorKind::unavailable || error.kind() == ErrorKind::timeout
            ? fmt::format("Check the address ({}){} and whether 'ponk serve' runs there; "
                          "'--server here' asks this machine.",
                          server.origin,
                          server.url.starts_with("http:") ? ", also for https," : "")
            : "";
    return Error(error.kind(),
                 fmt::format("the server {} cannot be reached: {}", server.url, error.message()),
                 error.hint().empty() ? hint : error.hint());
}

Error no_server_of_ours(const ServerAddress& server, int status)
{
    return {
        ErrorKind::unreachable,
        fmt::format("{} answers with status {}, which no 'ponk serve' does", server.url, status),
        fmt::format("Check the address ({}).", server.origin)};
}

}  // namespace

Daemon::Daemon(ServerAddress server, std::string token)
    : server_(std::move(server)), token_(std::move(token)), client_(client_of(*server_, token_))
{
}

Result<Daemon> Daemon::reach_server(ServerAddress server)
{
    Daemon daemon(std::move(server), TRY(server_token()));
    const auto& address = *daemon.server_;
    const auto reply = daemon.client_.call("GET", "/api/v1/daemon", "", after(greeting_limit));
    if (!reply) return tl::unexpected(not_reached(address, reply.error()));
    if (reply->status == 401 || reply->status == 403)
        return tl::unexpected(daemon.error_of(*reply));
    auto about = parse_json(reply->body);
    if (reply->status != 200 || !about || !(*about)["api"].is_integer())
        return tl::unexpected(no_server_of_ours(address, reply->status));
    if (!speaks_our_api(*about)) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("the server {} (ponk {}) speaks version {} of the API, and this ponk "
                              "{} speaks version {}",
                              address.url,
                              printable(about->text("version")),
                              about->integer("api"),
                              own_version(),
                              api_version),
                  "Install the server's version of ponk on this machine."));
    }
    daemon.about_ = std::move(*about);
    return daemon;
}

std::string Daemon::name() const
{
    return server_ ? "the server " + server_->url : "the daemon";
}

Error Daemon::error_of(const net::Reply& reply) const
{
    const Error error = net::error_of(reply, name());
    if (!server_) return error;
    if (reply.status == 401) {
        return {ErrorKind::invalid_argument,
                fmt::format("the server {} does not accept the token: it is unknown there or has "
                            "expired",
                            server_->url),
                "Who runs the server makes another: 'ponk token create --name NAME --role read'."};
    }
    if (reply.status == 403)
        return {error.kind(),
                fmt::format("the server {} refuses: {}", server_->url, error.message()),
                error.hint().empty() ? "" : "On the server: " + error.hint()};
    return error;
}

Daemon Daemon::beside() const
{
    Daemon other = server_ ? Daemon(*server_, token_)
                           : Daemon(home_, net::Client(home_ / "daemon.sock"), about_);
    other.about_ = about_;
    other.trace_ = trace_;
    return other;
}

Result<> Daemon::again()
{
    auto other = server_ ? TRY(reach_server(*server_)) : TRY(reach(home_));
    // In another folder of the same name nobody knows the run: there it would begin a second time.
    if (other.about_.text("store") == about_.text("store")) {
        other.repeat_path_ = std::move(repeat_path_);
        other.repeat_body_ = std::move(repeat_body_);
    }
    other.trace_ = trace_;
    *this = std::move(other);
    if (repeat_path_.empty()) return {};
    // A failure shows at the caller's own next request.
    static_cast<void>(call("POST", repeat_path_, repeat_body_, after(answer_limit)));
    return {};
}

void Daemon::repeat_after_restart(std::string path, const Json& body)
{
    repeat_path_ = std::move(path);
    repeat_body_ = to_json(body);
}

Result<Json> Daemon::get(const std::string& path, milliseconds limit)
{
    return send("GET", path, {}, Repeat::when_broken, limit);
}

Result<net::Reply> Daemon::call(std::string_view method,
                                const std::string& path,
                                const std::string& body,
                                Deadline deadline,
                                std::stop_token stop)
{
    const auto begin = Deadline::clock::now();
    auto reply = client_.call(method, "/api/v1" + path, body, deadline, std::move(stop));
    if (trace_ == Trace::yes) tell(method, path, begin, reply);
    return reply;
}

Result<net::Reply> Daemon::answered(std::string_view method,
                                    const std::string& path,
                                    const Json& body,
                                    Repeat repeat,
                                    milliseconds limit,
                                    std::stop_token stop)
{
    const std::string text = body.is_null() ? std::string() : to_json(body);
    const Deadline deadline = after(limit);
    auto reply = call(method, path, text, deadline, stop);
    for (int left = 5; !reply && reply.error().kind() == ErrorKind::unavailable && left > 0 &&
                       repeat == Repeat::when_broken && Deadline::clock::now() < deadline;
         --left) {
        TRY(again());
        reply = call(method, path, text, deadline, stop);
    }
    if (!reply) {
        if (reply.error().kind() != ErrorKind::timeout) return tl::unexpected(reply.error());
        return tl::unexpected(Error(
            ErrorKind::timeout,
            fmt::format(
                "{} did not answer {} {} within {} s", name(), method, path, limit.count() / 1000),
            server_ ? "It may have much to do: try again later."
                    : "It may still be working: check with 'ponk daemon status'."));
    }
    if (reply->status >= 400) return tl::unexpected(error_of(*reply));
    return reply;
}

Result<Json> Daemon::send(std::string_view method,
                          const std::string& path,
                          const Json& body,
                          Repeat repeat,
                          milliseconds limit,
                          std::stop_token stop)
{
    const auto reply = TRY(answered(method, path, body, repeat, limit, std::move(stop)));
    if (reply.body.empty()) return Json();
    return parse_json(reply.body, {.values = JsonLimits::any_number})
        .map_error(while_doing("the answer of {}", name()));
}

Result<std::string> Daemon::ask_bytes(const std::string& path, const Json& body, milliseconds limit)
{
    return TRY(answered("POST", path, body, Repeat::when_broken, limit, {})).body;
}

Result<> Daemon::stream(const std::string& path,
                        const net::Client::Sink& sink,
                        milliseconds quiet,
                        std::stop_token stop)
{
    const auto reply = TRY(stream_reply(path, sink, quiet, std::move(stop)));
    if (reply.status >= 400) return tl::unexpected(error_of(reply));
    return {};
}

Result<net::Reply> Daemon::stream_reply(const std::string& path,
                                        const net::Client::Sink& sink,
                                        milliseconds quiet,
                                        std::stop_token stop)
{
    const auto begin = Deadline::clock::now();
    auto reply = client_.stream("/api/v1" + path, sink, quiet, std::move(stop));
    if (trace_ == Trace::yes) tell("GET", path, begin, reply);
    return reply;
}

std::string run_path(std::string_view run, const std::string& project_id, std::string_view tail)
{
    std::string path = fmt::format("/runs/{}{}", net::percent_encode(run), tail);
    if (!project_id.empty()) {
        path += path.find('?') == std::string::npos ? '?' : '&';
        path += "project=" + net::percent_encode(project_id);
    }
    return path;
}

}  // namespace ponk::cli
