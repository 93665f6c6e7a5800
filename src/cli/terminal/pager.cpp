// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/pager.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern "C" char** environ;

namespace ponk::cli {
namespace {

// Standard output is one for the process, and so is what stands behind it.
std::atomic<int> output_pipe{-1};

std::optional<std::string> find_variable(const std::vector<std::string>& environment,
                                         std::string_view name)
{
    for (const std::string& entry : environment) {
        if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
            return entry.substr(name.size() + 1);
    }
    return std::nullopt;
}

std::vector<std::string> own_environment()
{
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry)
        entries.emplace_back(*entry);
    return entries;
}

}  // namespace

std::optional<os::Command> pager_command(const std::vector<std::string>& environment)
{
    const auto of_ponk = find_variable(environment, "PONK_PAGER");
    const auto chosen = of_ponk ? of_ponk : find_variable(environment, "PAGER");
    const std::string line(trim(chosen.value_or("less")));
    if (line.empty() || line == "cat") return std::nullopt;
    const auto term = find_variable(environment, "TERM").value_or("dumb");
    if (term == "dumb") return std::nullopt;
    // A shell reads the line; that it cannot find the program, it would say when our output is
    // lost already.
    const auto path = find_variable(environment, "PATH").value_or("");
    const auto program = line.substr(0, line.find_first_of(" \t"));
    const bool plain = program.find_first_of("\"'$`\\;|&<>(){}=~*?") == std::string::npos;
    if (plain && program.find('/') == std::string::npos && !os::find_program(program, path))
        return std::nullopt;
    if (plain && program.find('/') != std::string::npos && ::access(program.c_str(), X_OK) != 0)
        return std::nullopt;
    os::Command command;
    command.argv = {"/bin/sh", "-c", line};
    command.env = environment;
    // What fits on the screen is only printed; colours are shown; the screen is left as it is.
    if (!find_variable(environment, "LESS")) command.env->emplace_back("LESS=FRX");
    if (!find_variable(environment, "LV")) command.env->emplace_back("LV=-c");
    return command;
}

std::optional<Pager> Pager::start()
{
    if (::isatty(STDOUT_FILENO) != 1) return std::nullopt;
    auto command = pager_command(own_environment());
    if (!command) return std::nullopt;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    os::Fd from(ends[0]);
    os::Fd to(ends[1]);
    command->descriptors = {
        {from.get(), STDIN_FILENO}, {STDOUT_FILENO, STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
    auto child = os::spawn(*command);
    if (!child) return std::nullopt;
    // Ctrl-C is the pager's: it stops what it shows, and its end is ours.
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGQUIT, SIG_IGN);
    return Pager(std::move(*child), std::move(to));
}

Pager::Pager(os::Child child, os::Fd pipe) : child_(std::move(child)), pipe_(std::move(pipe))
{
    output_pipe = pipe_.get();
}

Pager::Pager(Pager&& other) noexcept
    : child_(std::exchange(other.child_, os::Child())), pipe_(std::move(other.pipe_))
{
}

Pager::~Pager()
{
    if (child_.pid < 0) return;
    output_pipe = -1;
    pipe_ = os::Fd();
    // As long as somebody reads.
    while (::waitpid(child_.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGQUIT, SIG_DFL);
}

int Pager::way_of(int fd) noexcept
{
    const int pipe = output_pipe;
    return fd == STDOUT_FILENO && pipe >= 0 ? pipe : fd;
}

}  // namespace ponk::cli
