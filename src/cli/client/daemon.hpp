// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "base/time.hpp"
#include "cli/client/server_address.hpp"
#include "net/client.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace ponk::cli {

inline constexpr std::chrono::seconds answer_limit{30};
inline constexpr std::chrono::seconds greeting_limit{10};

// The way to the daemon of one PONK_HOME, or to a server elsewhere. Paths are given without
// "/api/v1". Every call ends within its time; a call that is safe to repeat is repeated when the
// daemon went away under it. Not for use from several threads.
class Daemon {
public:
    // The daemon that runs now; nothing when there is none. Never starts one.
    static Result<std::optional<Daemon>> find(const os::Path& home,
                                              std::chrono::milliseconds limit = greeting_limit);
    // The daemon, found or started. One of another version serves us too if it speaks our API.
    static Result<Daemon> reach(const os::Path& home);

    // A server elsewhere, which answers with its own history.
    static Result<Daemon> reach_server(ServerAddress server);

    // Ends the one that runs, if any, because we are to be the daemon ourselves. As long as the
    // lock is held nobody else starts one.
    static Result<os::Fd> take_place(const os::Path& home);

    // Each request gets a line on standard error: how it was answered and in what time. Bodies are
    // not shown: they hold secrets.
    enum class Trace { no, yes };
    void set_trace(Trace trace) noexcept { trace_ = trace; }
    [[nodiscard]] Trace trace() const noexcept { return trace_; }

    // A connection of its own to the same daemon, for another thread.
    [[nodiscard]] Daemon beside() const;

    enum class Repeat { never, when_broken };

    Result<Json> get(const std::string& path, std::chrono::milliseconds limit = answer_limit);
    Result<Json> send(std::string_view method,
                      const std::string& path,
                      const Json& body = {},
                      Repeat repeat = Repeat::never,
                      std::chrono::milliseconds limit = answer_limit,
                      std::stop_token stop = {});
    // POST with an answer that is not JSON; nothing changes by asking twice.
    Result<std::string> ask_bytes(const std::string& path,
                                  const Json& body,
                                  std::chrono::milliseconds limit = answer_limit);
    // The body of a GET, as it comes. `quiet` bounds the time without a byte.
    Result<> stream(const std::string& path,
                    const net::Client::Sink& sink,
                    std::chrono::milliseconds quiet,
                    std::stop_token stop = {});
    // The same for who must know whether the daemon answered: an error that it answers with is in
    // the reply, and only a broken connection is a failure.
    Result<net::Reply> stream_reply(const std::string& path,
                                    const net::Client::Sink& sink,
                                    std::chrono::milliseconds quiet,
                                    std::stop_token stop = {});
    // After a broken connection: finds or starts it again.
    Result<> again();
    // A request that a restarted daemon must hear again, because it holds what is never stored: the
    // environment of a run that was not launched yet. Sending it twice starts nothing twice.
    void repeat_after_restart(std::string path, const Json& body);

    // What GET /daemon said.
    [[nodiscard]] const Json& about() const noexcept { return about_; }
    // Empty of a server elsewhere.
    [[nodiscard]] const os::Path& home() const noexcept { return home_; }
    [[nodiscard]] const std::optional<ServerAddress>& server() const noexcept { return server_; }
    // "the daemon", or "the server https://…".
    [[nodiscard]] std::string name() const;
    // What an answer with a failure status means.
    [[nodiscard]] Error error_of(const net::Reply& reply) const;

private:
    Daemon(os::Path home, net::Client client, Json about)
        : home_(std::move(home)), client_(std::move(client)), about_(std::move(about))
    {
    }
    Daemon(ServerAddress server, std::string token);

    // What answers `send`, whatever it is.
    Result<net::Reply> answered(std::string_view method,
                                const std::string& path,
                                const Json& body,
                                Repeat repeat,
                                std::chrono::milliseconds limit,
                                std::stop_token stop);
    Result<net::Reply> call(std::string_view method,
                            const std::string& path,
                            const std::string& body,
                            Deadline deadline,
                            std::stop_token stop = {});

    os::Path home_;
    std::optional<ServerAddress> server_;
    std::string token_;
    net::Client client_;
    Json about_;
    Trace trace_ = Trace::no;
    std::string repeat_path_;
    std::string repeat_body_;
};

// "/runs/last?project=…" and the like: a run as the user named it.
std::string
run_path(std::string_view run, const std::string& project_id, std::string_view tail = {});

}  // namespace ponk::cli
