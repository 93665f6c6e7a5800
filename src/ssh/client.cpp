// SPDX-License-Identifier: Apache-2.0
#include "ssh/client.hpp"

#include "base/synced.hpp"
#include "base/text.hpp"
#include "os/variables.hpp"
#include "ssh/failure.hpp"

#include <fcntl.h>
#include <map>
#include <utility>

namespace ponk::ssh {
namespace {

using std::chrono::seconds;

// ssh replaces % in names of files, and its settings have quotes for blanks.
std::string literal_path(const os::Path& path)
{
    std::string out = "\"";
    for (const char c : path.native()) {
        if (c == '%') out += c;
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

void read_line(std::string_view line, Resolved& out)
{
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return;
    const auto key = line.substr(0, blank);
    const std::string value(trim(line.substr(blank + 1)));
    if (key == "user") out.user = value;
    if (key == "hostname") out.host = value;
    if (key == "port") out.port = static_cast<int>(parse_integer(value).value_or(22));
    if (key == "hostkeyalias" && value != "none") out.key_alias = value;
    if (key == "userknownhostsfile") out.known_hosts = split(value, ' ');
    if (key == "globalknownhostsfile") out.host_files = split(value, ' ');
}

}  // namespace

Client::Client(const Access& access, Settings settings)
    : folder_(access.home, access.address), address_(access.address),
      environment_(access.environment), settings_(std::move(settings))
{
}

std::vector<std::string> Client::common_options() const
{
    std::string files = "known_hosts";  // in the host's folder, where ssh is started
    for (const auto& file : known_hosts_)
        files += " " + file;
    std::vector<std::string> words;
    for (const std::string& option : {"ControlPath=./" + socket_,
                                      std::string("StrictHostKeyChecking=yes"),
                                      "UserKnownHostsFile=" + files,
                                      std::string("UpdateHostKeys=no"),
                                      std::string("VerifyHostKeyDNS=no"),
                                      std::string("ServerAliveInterval=15"),
                                      std::string("ServerAliveCountMax=4"),
                                      std::string("ConnectTimeout=15"),
                                      std::string("ConnectionAttempts=1"),
                                      std::string("ForwardAgent=no"),
                                      std::string("ForwardX11=no"),
                                      std::string("ClearAllForwardings=yes"),
                                      std::string("PermitLocalCommand=no"),
                                      std::string("RemoteCommand=none"),
                                      std::string("RequestTTY=no"),
                                      std::string("Tunnel=no"),
                                      std::string("AddKeysToAgent=no"),
                                      std::string("LogLevel=INFO")}) {
        words.emplace_back("-o");
        words.push_back(option);
    }
    // What somebody set for their own sessions would take our standard input away, or the session.
    if (dialect_ == Dialect::with_sessions) {
        for (const char* option :
             {"StdinNull=no", "SessionType=default", "ForkAfterAuthentication=no"})
            words.insert(words.end(), {"-o", option});
    }
    return words;
}

void Client::add_identity(std::vector<std::string>& argv) const
{
    if (settings_.identity == Identity::user) return;
    const std::string file =
        settings_.identity == Identity::own ? "./key" : literal_path(settings_.key_file);
    argv.insert(argv.end(), {"-o", "IdentitiesOnly=yes", "-o", "IdentityFile=" + file});
    // Where the user's file switches keys off, or prefers something else, ours is meant all the
    // same.
    argv.insert(argv.end(), {"-o", "PubkeyAuthentication=yes"});
    if (settings_.identity == Identity::own)
        argv.insert(argv.end(), {"-o", "PreferredAuthentications=publickey"});
}

os::Command Client::command(const std::vector<std::string>& options, const std::string& tail) const
{
    os::Command command;
    command.argv = {"ssh"};
    for (const auto& option : options) {
        if (!option.starts_with('-') && option.find('=') != std::string::npos)
            command.argv.emplace_back("-o");
        command.argv.push_back(option);
    }
    const auto common = common_options();
    command.argv.insert(command.argv.end(), common.begin(), common.end());
    add_identity(command.argv);
    if (!address_.user.empty()) command.argv.insert(command.argv.end(), {"-l", address_.user});
    if (address_.port)
        command.argv.insert(command.argv.end(), {"-p", fmt::format("{}", *address_.port)});
    command.argv.insert(command.argv.end(), {"--", address_.host});
    if (!tail.empty()) command.argv.push_back(tail);
    command.env = environment_;
    command.directory = folder_.path();
    command.session = os::Command::Session::own;
    return command;
}

Result<Resolved> Client::resolve(Deadline deadline, std::stop_token stop) const
{
    // Only what the user's own files say about it.
    os::Command asked{.argv = {"ssh", "-G", "-o", "RemoteCommand=none"},
                      .env = environment_,
                      .directory = "/",
                      .session = os::Command::Session::own};
    if (!address_.user.empty()) asked.argv.insert(asked.argv.end(), {"-l", address_.user});
    if (address_.port)
        asked.argv.insert(asked.argv.end(), {"-p", fmt::format("{}", *address_.port)});
    // The command is never run; a file that sends every session into the background wants one.
    asked.argv.insert(asked.argv.end(), {"--", address_.host, "exit"});
    const auto output = os::run(asked, std::min(deadline, after(seconds(20))), std::move(stop));
    if (!output) {
        if (output.error().kind() == ErrorKind::not_found)
            return tl::unexpected(error_of(Cause::no_client, address_, {}));
        return tl::unexpected(output.error().within("ask ssh about '" + address_.text() + "'"));
    }
    if (output->exit.status() != 0) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("ssh cannot use its settings for '{}': {}",
                                                address_.host,
                                                printable(trim(output->err))),
                                    "Mend ~/.ssh/config; 'ssh -G HOST' shows what it means."));
    }
    Resolved resolved;
    for (const auto& line : split(output->out, '\n'))
        read_line(line, resolved);
    return resolved;
}

Dialect dialect_of(std::string_view version)
{
    constexpr std::string_view mark = "OpenSSH_";
    const auto begin = version.find(mark);
    if (begin == std::string_view::npos) return Dialect::plain;
    const auto rest = version.substr(begin + mark.size());
    const auto dot = rest.find('.');
    const auto end = rest.find_first_not_of("0123456789", dot + 1);
    if (dot == std::string_view::npos) return Dialect::plain;
    const auto major = parse_integer(rest.substr(0, dot));
    const auto minor = parse_integer(rest.substr(dot + 1, end - dot - 1));
    if (!major || !minor) return Dialect::plain;
    return std::pair(*major, *minor) >= std::pair<std::int64_t, std::int64_t>(8, 7)
               ? Dialect::with_sessions
               : Dialect::plain;
}

namespace {

// Asked once per process and PATH: it does not change while we run.
Dialect own_dialect(const std::vector<std::string>& environment)
{
    static Synced<std::map<std::string, Dialect>> known;
    const auto path = os::variable(environment, "PATH");
    if (const auto all = known.lock(); all->contains(path)) return all->at(path);
    const auto asked = os::run(
        {.argv = {"ssh", "-V"}, .env = environment, .directory = "/"}, after(seconds(10)), {});
    if (!asked) return Dialect::plain;
    const auto dialect = dialect_of(asked->err + asked->out);
    known.lock()->emplace(path, dialect);
    return dialect;
}

}  // namespace

Result<> require_attached(const os::Path& home, const Address& address)
{
    if (HostFolder(home, address).is_attached()) return {};
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("you never attached '{}', so it is not contacted", address.text()),
              "If that is a machine of yours, run: ponk attach --from aml_config/TARGET.compute"));
}

Result<Client> make_client(const Access& access)
{
    TRY(check_host(access.address.host));
    if (!access.address.user.empty()) TRY(check_user(access.address.user));
    const HostFolder folder(access.home, access.address);
    TRY(folder.make());
    auto settings = TRY(folder.read_settings()).value_or(Settings{.address = access.address});
    if (settings.identity == Identity::user && !access.private_key.empty()) {
        settings.identity = Identity::file;
        settings.key_file = access.private_key;
    }
    Client client(access, std::move(settings));
    client.use_dialect(own_dialect(access.environment));
    return client;
}

}  // namespace ponk::ssh
