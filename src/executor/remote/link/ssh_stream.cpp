// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/link/ssh_stream.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "os/variables.hpp"
#include "ssh/connection.hpp"
#include "ssh/host_home.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unistd.h>

namespace ponk::executor::remote {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view needed = "\n\x01ponk-agent-needed ";
constexpr const char* scratch_advice = "Write 'scratch: FOLDER' in the target's .compute file, "
                                       "with a folder on a local disk of that machine.";

struct Program {
    std::string bytes;
    std::string digest;
    [[nodiscard]] std::string name() const { return "ponk-agent-" + digest.substr(0, 16); }
};
using Programs = std::map<std::string, Program>;  // by processor

// Becomes ponk-agent, or says that it is needed and for what.
std::string serve_command(const HostAddress& host, const Programs& programs)
{
    std::string cases;
    for (const auto& [processor, program] : programs)
        cases += fmt::format("{}) n={} s={};; ", processor, program.name(), program.bytes.size());
    return ssh::find_host_home(host.scratch) + fmt::format(R"sh(m=$(uname -m)
[ "$m" = arm64 ] && m=aarch64
n= s=
case "$m" in {}esac
b="$h/bin/$n"
if [ -n "$n" ] && [ -f "$b" ] && [ "$(wc -c <"$b")" -eq "$s" ]; then
  require_ours "$h"
  require_ours "$h/bin"
  require_ours "$b"
  exec "$b" serve --home "$h"
fi
printf '\n\001ponk-agent-needed %s\n' "$m"
)sh",
                                                           cases);
}

// Takes the program from standard input. A connection that is cut looks like its end: so the size
// is compared before it gets its name.
std::string install_command(const HostAddress& host, const Program& program)
{
    return ssh::find_host_home(host.scratch) + ssh::make_host_home() +
           fmt::format(R"sh(t="$h/bin/.new-$$"
cat >"$t" && [ "$(wc -c <"$t")" -eq {} ] && chmod 700 "$t" && mv -f "$t" "$h/bin/{}" && echo installed && exit 0
rm -f "$t"
exit 1
)sh",
                       program.bytes.size(),
                       program.name());
}

// What is there to read now, without waiting.
std::string drain(int fd)
{
    std::string text;
    make_nonblocking(fd);
    char block[4096];
    for (ssize_t got = 0; text.size() < 65536; text.append(block, static_cast<std::size_t>(got))) {
        got = ::read(fd, block, sizeof block);
        if (got <= 0) break;
    }
    return text;
}

// ponk-agent and the script that starts it speak in two lines: what, and the next step.
std::optional<Error> own_words(std::string_view said)
{
    constexpr std::string_view own = "ponk-agent: ";
    const auto lines = split(said, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].starts_with(own))
            return Error(ErrorKind::unavailable,
                         printable(lines[i].substr(own.size())),
                         i + 1 < lines.size() ? printable(lines[i + 1]) : "");
    }
    return std::nullopt;
}

class Connector {
public:
    explicit Connector(SshOptions options) : options_(std::move(options)) {}

    Result<Stream> connect(const HostAddress& host, Deadline deadline, const std::stop_token& stop)
    {
        const auto& programs = *TRY(load_programs());
        auto way = TRY(way_to(host));
        for (int attempt = 0; attempt < 2; ++attempt) {
            auto child = TRY(way.start(serve_command(host, programs), deadline, stop));
            const auto early = TRY(first_words(child, deadline, stop));
            if (early.starts_with(greeting)) return stream(std::move(way), std::move(child), early);
            if (!early.starts_with(needed)) return tl::unexpected(refusal(child, early, deadline));
            const std::string processor(trim(early.substr(needed.size())));
            const auto found = programs.find(processor);
            // Told by who knows what was built and where others may be put.
            if (found == programs.end()) {
                TRY(options_.program(processor));
                return fail(ErrorKind::unavailable, "no ponk-agent for '{}'", printable(processor));
            }
            TRY(install(way, host, found->second, stop));
        }
        return fail(ErrorKind::unavailable,
                    "ponk-agent was installed there, but was removed again");
    }

private:
    Result<const Programs*> load_programs()
    {
        auto loaded = programs_.lock();
        if (loaded->empty()) {
            for (const auto& processor : options_.processors) {
                auto bytes = TRY(options_.program(processor));
                auto digest = sha256(bytes).text();
                loaded->emplace(processor, Program{std::move(bytes), std::move(digest)});
            }
        }
        return &*loaded;  // filled once, never changed
    }

    Result<ssh::Connection> way_to(const HostAddress& host) const
    {
        auto address = TRY(ssh::parse_address(host.address, host.user));
        if (host.port != 0) address.port = host.port;
        ssh::Access access{.home = options_.home, .address = address, .environment = {}};
        for (const auto& word : options_.environment) {
            if (!word.starts_with("SSH_AUTH_SOCK=")) access.environment.push_back(word);
        }
        if (!host.agent.empty()) access.environment.push_back("SSH_AUTH_SOCK=" + host.agent);
        access.private_key = host.private_key;
        return ssh::Connection::make(access);
    }

    static Result<std::string>
    first_words(const ssh::Child& child, Deadline deadline, const std::stop_token& stop)
    {
        make_nonblocking(child.out.get());
        std::string words;
        for (;;) {
            const bool asks = words.starts_with(needed);
            if (asks ? words.find('\n', 1) != std::string::npos : words.size() >= greeting.size())
                return words;
            const auto more = TRY(read_some(child.out.get(), deadline, stop));
            if (more.empty()) return words;
            words += more;
        }
    }

    static Error refusal(ssh::Child& child, const std::string& early, Deadline deadline)
    {
        const auto exit = child.wait(std::min(deadline, after(5s)), {});
        const auto said = std::string(trim(drain(child.err.get()) + early)).substr(0, 1200);
        if (const auto told = own_words(said)) return *told;
        // 255 is ssh's own; above 128 somebody was killed.
        if (!exit || exit->status() == 255 || (said.empty() && exit->status() > 128)) {
            return {ErrorKind::unreachable,
                    "the connection was cut before ponk-agent answered" +
                        (said.empty() ? said : ": " + printable(said))};
        }
        const bool denied = exit && exit->status() == 126;
        return {ErrorKind::unavailable,
                fmt::format("ponk-agent cannot be executed on that machine: {}",
                            said.empty() ? fmt::format("exit code {}", exit->status())
                                         : printable(said)),
                denied ? std::string("Its folder may be mounted with noexec. ") + scratch_advice
                       : ""};
    }

    static Result<> install(ssh::Connection& way,
                            const HostAddress& host,
                            const Program& program,
                            const std::stop_token& stop)
    {
        const auto deadline = after(300s);
        auto child = TRY(way.start(install_command(host, program), deadline, stop));
        make_nonblocking(child.in.get());
        const auto sent = write_patiently(child.in.get(), program.bytes, 60s, stop);
        child.in.reset();
        const auto exit = TRY(child.wait(deadline, stop));
        if (sent && exit.status() == 0) return {};
        const auto words = drain(child.err.get());
        if (const auto told = own_words(words)) return tl::unexpected(*told);
        const auto said = trim(words);
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  fmt::format("ponk-agent could not be copied to that machine: {}",
                              said.empty() && !sent ? sent.error().message() : printable(said)),
                  scratch_advice));
    }

    Result<Stream> stream(ssh::Connection way, ssh::Child child, std::string early)
    {
        auto held = std::make_shared<ssh::Child>(std::move(child));
        Stream out;
        out.read = std::move(held->out);
        out.write = std::move(held->in);
        out.end = [held] { held->kill(); };
        out.complaint = [held] { return drain(held->err.get()); };
        out.on_silence = [way]() mutable { way.close(); };
        out.early = std::move(early);
        for (const auto& [processor, program] : *programs_.lock())
            out.programs.push_back(program.digest);
        return out;
    }

    SshOptions options_;
    Synced<Programs> programs_;
};

}  // namespace

Connect connect_by_ssh(SshOptions options)
{
    return [connector = std::make_shared<Connector>(std::move(options))](
               const HostAddress& host, Deadline deadline, const std::stop_token& stop) {
        return connector->connect(host, deadline, stop);
    };
}

}  // namespace ponk::executor::remote
