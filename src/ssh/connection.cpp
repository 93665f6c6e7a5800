// SPDX-License-Identifier: Apache-2.0
#include "ssh/connection.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "os/wait.hpp"
#include "ssh/failure.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ponk::ssh {
namespace {

constexpr std::size_t most_noise = std::size_t{1} << 20;
constexpr std::size_t most_output = std::size_t{16} << 20;
constexpr int broken = 255;  // ssh's own exit code

// Reads the script by its length, so that nothing of what follows it is taken.
constexpr const char* runner =
    R"(exec /bin/sh -c 'IFS= read -r n && s=$(dd bs=1 count="$n" 2>/dev/null) && eval "$s"')";
constexpr const char* prelude =
    R"(take() { IFS= read -r size && value=$(dd bs=1 count="$size" 2>/dev/null); }
)";

std::string length_prefixed(const std::string& text)
{
    return fmt::format("{}\n{}", text.size(), text);
}

// A pair of sockets, not a pipe: what is sent to a program that has ended must not end us.
Result<os::Pipe> make_input()
{
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_errno(errno, "make a pair of sockets");
    return os::Pipe{os::Fd(ends[0]), os::Fd(ends[1])};
}

// What is there to read now, without waiting.
std::string drain(int fd)
{
    std::string text;
    char block[4096];
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    while (text.size() < most_noise) {
        const auto got = ::read(fd, block, sizeof block);
        if (got <= 0) break;
        text.append(block, static_cast<std::size_t>(got));
    }
    return text;
}

// The shell puts the halves together, so that a shell that shows what it was told does not show the
// mark itself.
struct Mark {
    std::string first = to_hex(random_bytes(8));
    std::string second = to_hex(random_bytes(8));

    [[nodiscard]] std::string whole() const { return first + second + "\n"; }
    [[nodiscard]] std::string command(const std::string& then) const
    {
        return "exec /bin/sh -c " +
               shell_word(fmt::format("echo {}\"\"{}\n{}", first, second, then));
    }
};

// Reads up to the mark and not a byte more: what follows belongs to the command. False when the
// output ended before it.
Result<bool> skip_to(const Mark& mark, int fd, Deadline deadline, const std::stop_token& stop)
{
    const auto wanted = mark.whole();
    std::string seen;
    while (seen.size() < most_noise) {
        TRY(os::wait_readable(fd, deadline, stop));
        char c = 0;
        const auto got = ::read(fd, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        seen += c;
        if (c == '\n' && seen.ends_with(wanted)) return true;
    }
    return false;
}

}  // namespace

Result<Connection> Connection::make(const Access& access)
{
    TRY(require_attached(access.home, access.address));
    return Connection(TRY(make_client(access)));
}

Result<> Connection::connect(Deadline deadline, std::stop_token stop)
{
    return try_connect(deadline, std::move(stop)).map_error([](const Refusal& refusal) {
        return refusal.error;
    });
}

tl::expected<void, Refusal> Connection::try_connect(Deadline deadline, std::stop_token stop)
{
    const auto refuse = [](const Error& error) {
        return tl::unexpected(Refusal{Cause::other, error});
    };
    const auto alive = is_master_alive(client_, stop);
    if (!alive) return refuse(alive.error());
    if (*alive) return {};
    Opening opening;
    opening.dead = find_master(client_);
    auto client = client_;
    const auto resolved = client.resolve(deadline, stop);
    if (!resolved) return refuse(resolved.error());
    client.use_known_hosts(resolved->known_hosts);
    return open_master(client, opening, deadline, stop);
}

Result<Child> Connection::start(const std::string& command, Deadline deadline, std::stop_token stop)
{
    TRY(connect(deadline, stop));
    const Mark mark;
    auto described = client_.command({"ControlMaster=no", "BatchMode=yes"}, mark.command(command));
    auto in = TRY(make_input());
    auto out = TRY(os::make_pipe());
    auto err = TRY(os::make_pipe());
    described.descriptors = {{in.read.get(), 0}, {out.write.get(), 1}, {err.write.get(), 2}};
    Child child(
        TRY(os::spawn(described)), std::move(in.write), std::move(out.read), std::move(err.read));
    in.read.reset();
    out.write.reset();
    err.write.reset();

    const auto begun = skip_to(mark, child.out.get(), std::min(deadline, after(begin_limit)), stop);
    if (begun && *begun) return child;
    if (!begun) {
        // A connection on which nothing moves would hold up the next caller as well.
        if (begun.error().kind() == ErrorKind::timeout) discard_master(client_);
        if (begun.error().kind() != ErrorKind::timeout) return tl::unexpected(begun.error());
        return tl::unexpected(
            Error(ErrorKind::timeout,
                  fmt::format("'{}' was reached but did not begin with the command in time",
                              address().text()),
                  "The machine may hang or be overloaded, or a start file of the login shell there "
                  "waits for something."));
    }
    const auto exit = TRY(child.wait(std::min(deadline, after(begin_limit)), stop));
    const auto said = drain(child.err.get());
    if (exit.status() == broken) return tl::unexpected(error_from(address(), said));
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("the login shell on '{}' ended with {} instead of running a command: {}",
                          address().text(),
                          exit.status(),
                          printable(trim(said))),
              "Is the user allowed to log in there, and do start files of the shell (~/.bashrc) "
              "end it?"));
}

namespace {

// Feeds and reads a child to its end.
Result<os::Output> finish(Child child,
                          std::string_view input,
                          Deadline deadline,
                          const std::stop_token& stop,
                          const Connection::Sink& sink)
{
    os::Output output;
    const os::Bell bell;
    const std::stop_callback on_stop(stop, [&bell] { bell.ring(); });
    ::fcntl(child.in.get(), F_SETFL, O_NONBLOCK);
    const auto read_from = [&](os::Fd& fd, std::string& text) {
        char block[65536];
        const auto got = ::read(fd.get(), block, sizeof block);
        if (got < 0 && errno == EINTR) return;
        if (got <= 0) return fd.reset();
        if (sink && &fd == &child.out) sink({block, static_cast<std::size_t>(got)});
        text.append(block, std::min(most_output - text.size(), static_cast<std::size_t>(got)));
    };
    while (child.out || child.err) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Deadline::clock::now());
        if (left.count() <= 0) return fail(ErrorKind::timeout, "timed out");
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while waiting");
        if (child.in && input.empty()) child.in.reset();
        std::array<pollfd, 4> fds{{{child.out.get(), POLLIN, 0},
                                   {child.err.get(), POLLIN, 0},
                                   {child.in.get(), POLLOUT, 0},
                                   {bell.fd(), POLLIN, 0}}};
        const int wait_ms = static_cast<int>(std::min<std::int64_t>(left.count(), 60'000));
        if (::poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR)
            return fail_errno(errno, "poll");
        if (child.out && fds[0].revents != 0) read_from(child.out, output.out);
        if (child.err && fds[1].revents != 0) read_from(child.err, output.err);
        if (child.in && fds[2].revents != 0) {
            const auto put = ::send(child.in.get(), input.data(), input.size(), MSG_NOSIGNAL);
            if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
            if (put < 0 && errno != EAGAIN && errno != EINTR) child.in.reset();
        }
    }
    output.exit = TRY(child.wait(deadline, stop));
    return output;
}

}  // namespace

Result<os::Output> Connection::run(const std::string& script,
                                   const std::vector<std::string>& arguments,
                                   Deadline deadline,
                                   std::stop_token stop,
                                   const std::string& input,
                                   const Sink& sink)
{
    auto child = TRY(start(runner, deadline, stop));
    std::string sent = length_prefixed(prelude + script);
    for (const auto& argument : arguments)
        sent += length_prefixed(argument);
    sent += input;
    auto output = finish(std::move(child), sent, deadline, stop, sink);
    if (!output) {
        if (output.error().kind() != ErrorKind::timeout) return tl::unexpected(output.error());
        discard_master(client_);
        return tl::unexpected(
            Error(ErrorKind::timeout,
                  fmt::format("'{}' did not finish a command in time", address().text()),
                  "The machine may hang or be overloaded, or the network is down."));
    }
    if (output->exit.status() == broken) return tl::unexpected(error_from(address(), output->err));
    return output;
}

}  // namespace ponk::ssh
