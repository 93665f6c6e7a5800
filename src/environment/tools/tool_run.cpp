// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/tool_run.hpp"

#include "base/text.hpp"
#include "environment/tools/telling_line.hpp"
#include "os/wait.hpp"

#include <array>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t lines_kept = 30;
constexpr std::size_t longest_line = 2000;
constexpr auto grace = 2s;

// Cuts what a tool prints into lines and keeps the last of them.
class Lines {
public:
    Lines(const Redactor& redactor, const Progress& progress)
        : redactor_(redactor), progress_(progress)
    {
    }

    void take(std::string_view bytes)
    {
        for (const char c : bytes) {
            if (c == '\n' || c == '\r')
                end_line();
            else if (line_.size() < longest_line)
                line_ += c;
        }
    }

    std::string tail()
    {
        end_line();
        return join({lines_.begin(), lines_.end()}, "\n");
    }

private:
    void end_line()
    {
        // Indentation tells what belongs to what in a solver's explanation.
        const auto end = line_.find_last_not_of(" \t");
        const auto text = end == std::string::npos
                              ? std::string()
                              : printable(redactor_.clean(line_.substr(0, end + 1)));
        line_.clear();
        if (text.empty()) return;
        if (progress_) progress_(text);
        lines_.push_back(text);
        if (lines_.size() > lines_kept) lines_.pop_front();
    }

    const Redactor& redactor_;
    const Progress& progress_;
    std::string line_;
    std::deque<std::string> lines_;
};

enum class Pipe { open, quiet, closed };

Pipe read_some(int fd, Lines& lines)
{
    std::array<char, 65536> block;
    const auto got = ::read(fd, block.data(), block.size());
    if (got > 0) lines.take({block.data(), static_cast<std::size_t>(got)});
    if (got > 0) return Pipe::open;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? Pipe::quiet : Pipe::closed;
}

// The tool is a session of its own, so its group is all it started that did not leave it.
void end_group(const os::Child& child)
{
    ::kill(-child.pid, SIGTERM);
    static_cast<void>(os::wait_readable(child.pidfd.get(), after(grace), {}));
    ::kill(-child.pid, SIGKILL);
}

// Those of its processes that became our children when their parent was killed.
void reap_group(pid_t group)
{
    for (const auto deadline = after(grace); Deadline::clock::now() < deadline;) {
        const auto reaped = ::waitpid(-group, nullptr, WNOHANG);
        if (reaped < 0) return;  // none is left
        if (reaped == 0) os::sleep_for(1ms, {});
    }
}

Error failure(const ToolRun& tool, const os::Exit& exit, const std::string& tail)
{
    const auto how = exit.signal != 0 ? fmt::format("was ended by {}", os::signal_name(exit.signal))
                                      : fmt::format("ended with {}", exit.code);
    auto message = fmt::format("{} {}", tool.name, how);
    // The first line is the one that is always shown.
    if (!tail.empty()) message += fmt::format(": {}\n{}", telling_line(tail), tail);
    return {kind_of_failure(tail), std::move(message), advice_for(tail)};
}

}  // namespace

Result<> run_tool(const ToolRun& tool,
                  const Redactor& redactor,
                  const Progress& progress,
                  Deadline deadline,
                  std::stop_token stop)
{
    auto out = TRY(os::make_pipe());
    os::Fd nothing = TRY(os::open_file("/dev/null", O_RDONLY));
    os::Command command{
        .argv = tool.argv,
        .env = tool.environment,
        .directory = tool.directory,
        .session = os::Command::Session::own,
        .descriptors = {{nothing.get(), 0}, {out.write.get(), 1}, {out.write.get(), 2}}};
    if (tool.held_lock >= 0) command.descriptors.emplace_back(tool.held_lock, 9);
    const auto child = TRY(os::spawn(command).map_error(while_doing("{}", tool.name)));
    out.write.reset();
    ::fcntl(out.read.get(), F_SETFL, O_NONBLOCK);
    Lines lines(redactor, progress);
    const std::array<int, 2> ends{out.read.get(), child.pidfd.get()};
    Result<std::size_t> ready = std::size_t{0};
    for (bool open = true; ready;) {
        const auto first = open ? std::size_t{0} : std::size_t{1};
        ready = os::wait_any(std::span(ends).subspan(first), deadline, stop);
        if (ready && *ready + first == 1) break;
        if (ready) open = read_some(out.read.get(), lines) != Pipe::closed;
    }
    if (!ready)
        end_group(child);
    else
        ::kill(-child.pid, SIGKILL);  // what it left behind
    while (read_some(out.read.get(), lines) == Pipe::open) {
    }
    const auto exit = TRY(os::wait_for_exit(child, after(grace), {}));
    reap_group(child.pid);
    if (!ready) return tl::unexpected(ready.error().within(tool.name));
    if (exit.status() != 0) return tl::unexpected(failure(tool, exit, lines.tail()));
    static_cast<void>(lines.tail());
    return {};
}

std::string advice_for(std::string_view output)
{
    const auto says = [text = lower(output)](std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    if (says("no space left on device") || says("disk quota exceeded"))
        return "Free disk space; 'ponk environment list' shows the sizes of environments.";
    if (says("externally-managed-environment"))
        return "Set 'pythonLocation' to an interpreter whose venv module works.";
    if (says("certificate verify failed") || says("unknownissuer") || says("self-signed"))
        return "Set SSL_CERT_FILE to the bundle with your company's certificate and try again.";
    if (says("no solution found") || says("conflicting dependencies") ||
        says("no set of packages") || says("resolutionimpossible") || says("unsatisfiable"))
        return "Relax the versions that contradict each other.";
    if (says("could not find a version that satisfies") || says("no matching distribution") ||
        says("was not found in the package registry") || says("no candidates were found"))
        return "Check the package's name and version. Some old packages no longer exist or need an "
               "older Python.";
    if (says("temporary failure in name resolution") || says("connection refused") ||
        says("network is unreachable") || says("failed to establish a new connection") ||
        says("error sending request") || says("dns error") || says("failed to fetch"))
        return "The package index cannot be reached: check the network and HTTPS_PROXY, or use "
               "another index, wheel folder or channel.";
    if (says("401 ") || says("403 ") || says("unauthorized") || says("forbidden"))
        return "The index refuses access: check the token or signature in its address.";
    if (says("gcc") || says("python.h") || says("failed building wheel") || says("failed to build"))
        return "A package has to be built from source, which failed: use a version that has a "
               "wheel for this Python, or install a compiler.";
    return {};
}

}  // namespace ponk::environment
