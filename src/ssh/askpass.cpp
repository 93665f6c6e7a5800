// SPDX-License-Identifier: Apache-2.0
#include "ssh/askpass.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "os/process.hpp"
#include "os/socket.hpp"
#include "os/variables.hpp"
#include "os/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

namespace ponk::ssh {
namespace {

using std::chrono::seconds;

constexpr const char* variable = "PONK_ASKPASS";
constexpr const char* socket_name = "ask";
constexpr std::size_t longest_question = std::size_t{16} << 10;

// All that comes until the other side has no more to say.
Result<std::string> read_message(int socket, Deadline deadline, const std::stop_token& stop)
{
    std::string text;
    for (;;) {
        TRY(os::wait_readable(socket, deadline, stop));
        char block[1024];
        const auto got = ::recv(socket, block, sizeof block, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fail_errno(errno, "read from a socket");
        if (got == 0) return text;
        text.append(block, static_cast<std::size_t>(got));
        if (text.size() > longest_question)
            return fail(ErrorKind::invalid_argument, "a question is too long");
    }
}

Result<> send_message(int socket, std::string_view text)
{
    while (!text.empty()) {
        const auto put = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail_errno(errno, "write to a socket");
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    ::shutdown(socket, SHUT_WR);
    return {};
}

Result<> ask(const char* socket, const char* question)
{
    const auto connection = TRY(os::connect_unix(socket));
    TRY(send_message(connection.get(), question));
    // A person may have to be asked.
    Secret answer(TRY(read_message(connection.get(), after(seconds(600)), {})));
    if (!answer.text().starts_with('+')) return fail(ErrorKind::cancelled, "no answer");
    Secret line(answer.text().substr(1) + "\n");
    return os::write_all(STDOUT_FILENO, line.text());
}

std::optional<pid_t> parent_of(pid_t process)
{
    const auto status = os::read_file(fmt::format("/proc/{}/status", process), 64 << 10);
    if (!status) return std::nullopt;
    constexpr std::string_view mark = "PPid:";
    for (const auto& line : split(*status, '\n')) {
        if (!line.starts_with(mark)) continue;
        const auto number = parse_integer(trim(std::string_view(line).substr(mark.size())));
        if (number) return static_cast<pid_t>(*number);
    }
    return std::nullopt;
}

// ssh starts the program that asks, and one that goes to a jump host is itself started by ours.
Question::Asker asker_of(int connection)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return Question::Asker::somebody_else;
    const auto asker = parent_of(peer.pid);
    const bool ours = asker && parent_of(*asker) == ::getpid();
    return ours ? Question::Asker::started_by_us : Question::Asker::somebody_else;
}

}  // namespace

Result<std::unique_ptr<AskServer>> AskServer::start(const HostFolder& folder, Answer answer)
{
    const auto socket = folder.path() / socket_name;
    ::unlink(socket.c_str());
    auto listener = TRY(os::listen_unix(socket));
    return std::unique_ptr<AskServer>(
        new AskServer(socket, std::move(listener), std::move(answer)));
}

AskServer::AskServer(os::Path socket, os::Fd listener, Answer answer)
    : socket_(std::move(socket)), listener_(std::move(listener)), answer_(std::move(answer)),
      thread_([this](const std::stop_token& stop) { serve(stop); })
{
}

AskServer::~AskServer()
{
    thread_.request_stop();
    thread_.join();
    ::unlink(socket_.c_str());
}

std::vector<std::string> AskServer::environment(std::vector<std::string> with) const
{
    std::erase_if(with, [](const std::string& word) {
        return word.starts_with("SSH_ASKPASS") || word.starts_with("PONK_ASKPASS");
    });
    // Old versions of ssh ask a program only where they believe in a display.
    if (os::variable(with, "DISPLAY").empty()) with.emplace_back("DISPLAY=:0");
    with.push_back("SSH_ASKPASS=" + os::own_program().string());
    with.emplace_back("SSH_ASKPASS_REQUIRE=force");
    with.push_back(fmt::format("{}=./{}", variable, socket_name));
    return with;
}

void AskServer::serve(const std::stop_token& stop) const
{
    while (os::wait_readable(listener_.get(), after(std::chrono::hours(24)), stop)) {
        const os::Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection) serve_one(connection.get(), stop);
    }
}

void AskServer::serve_one(int connection, const std::stop_token& stop) const
{
    const auto peer = os::peer_user(connection);
    if (!peer || *peer != ::geteuid()) return;
    const auto question = read_message(connection, after(seconds(20)), stop);
    if (!question) return;
    const auto answer = answer_({*question, asker_of(connection)});
    const Secret sent(answer ? "+" + answer->text() : std::string("-"));
    [[maybe_unused]] const auto done = send_message(connection, sent.text());
}

std::optional<int> run_as_askpass(int argc, char** argv)
{
    const char* socket = ::getenv(variable);
    if (socket == nullptr || argc != 2) return std::nullopt;
    const char* hint = ::getenv("SSH_ASKPASS_PROMPT");
    // "confirm" and "none" are no questions for a secret.
    if (hint != nullptr) return 1;
    return ask(socket, argv[1]) ? 0 : 1;
}

PasswordAnswer::PasswordAnswer(Secret password, const Resolved& machine)
    : state_(std::make_shared<Synced<State>>(State{.password = std::move(password)}))
{
    const auto host = machine.key_alias.empty() ? lower(machine.host) : machine.key_alias;
    owner_ = machine.user + "@" + host;
    // OpenSSH cuts both.
    short_owner_ = machine.user.substr(0, 30) + "@" + host.substr(0, 128);
}

std::optional<Secret> PasswordAnswer::operator()(const Question& question)
{
    if (question.asker != Question::Asker::started_by_us) return std::nullopt;
    const auto asks_for_password = [&] {
        if (question.text == short_owner_ + "'s password: ") return true;
        std::string_view words = question.text;
        const auto mark = "(" + owner_ + ") ";
        // Since OpenSSH 8.5 it says whose question it passes on; before, the words stand alone.
        if (words.starts_with(mark)) {
            words.remove_prefix(mark.size());
        } else if (words.starts_with('(') || words.ends_with("'s password: ")) {
            return false;
        }
        return lower(words).find("password") != std::string::npos;
    };
    auto state = state_->lock();
    if (!asks_for_password()) {
        state->other_question = question.text.substr(0, 200);
        return std::nullopt;
    }
    if (state->given) return std::nullopt;
    state->given = true;
    Secret answer(std::string(state->password.text()));
    state->password.forget();
    return answer;
}

AskServer::Answer answer_passphrase(Secret passphrase, const os::Path& key_file)
{
    auto state = std::make_shared<Secret>(std::move(passphrase));
    // ssh's own words, and those of ssh-keygen, older and newer.
    const std::vector<std::string> questions{
        fmt::format("Enter passphrase for key '{}': ", key_file.string().substr(0, 100)),
        "Enter passphrase: ",
        fmt::format("Enter passphrase for \"{}\": ", key_file.string())};
    return [state, questions](const Question& question) -> std::optional<Secret> {
        if (question.asker != Question::Asker::started_by_us ||
            std::ranges::find(questions, question.text) == questions.end())
            return std::nullopt;
        return Secret(std::string(state->text()));
    };
}

}  // namespace ponk::ssh
