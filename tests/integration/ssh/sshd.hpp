// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/text.hpp"
#include "os/identity.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "os/wait.hpp"
#include "ssh/connection.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char** environ;

namespace ponk::ssh {

// A real sshd on a loopback port, with keys and settings of its own, that lets in who runs the
// test.
class TestSshd {
public:
    TestSshd()
    {
        const auto make_key = [&](const char* name) {
            return os::run({.argv = {"ssh-keygen",
                                     "-q",
                                     "-t",
                                     "ed25519",
                                     "-N",
                                     "",
                                     "-f",
                                     (folder_.path() / name).string()}},
                           after(std::chrono::seconds(30)),
                           {});
        };
        (void)make_key("host");
        (void)make_key("client");
        if (::geteuid() == 0) (void)os::make_directories("/run/sshd", 0755);
        port_ = free_port();
        reset();
    }
    ~TestSshd() { stop(); }

    // Why there is none, or empty.
    [[nodiscard]] std::string missing() const
    {
        return child_.pid > 0 ? "" : "sshd cannot be started (apt install openssh-server)";
    }
    // Running, and letting us in.
    void reset()
    {
        (void)os::replace_file(folder_.path() / "authorized",
                               os::read_file(folder_.path() / "client.pub").value_or(""));
        if (child_.pid <= 0) start();
    }
    void start()
    {
        const auto file = [&](const char* name) { return (folder_.path() / name).string(); };
        (void)os::replace_file(file("config"),
                               fmt::format("ListenAddress 127.0.0.1:{}\nHostKey {}\nPidFile none\n"
                                           "AuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n",
                                           port_,
                                           file("host"),
                                           file("authorized")));
        const auto log = os::open_file(file("log"), O_WRONLY | O_CREAT | O_APPEND);
        os::Command command{.argv = {"/usr/sbin/sshd", "-D", "-e", "-f", file("config")}};
        command.session = os::Command::Session::own;
        command.descriptors = {{log->get(), 2}};
        auto started = os::spawn(command);
        if (started) child_ = std::move(*started);
        for (int i = 0; i < 300 && child_.pid > 0 && !answers(); ++i)
            os::sleep_for(std::chrono::milliseconds(20), {});
    }
    // It and the processes that serve connections.
    void signal_all(int number) const
    {
        std::vector<pid_t> all{child_.pid};
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto path = fmt::format("/proc/{0}/task/{0}/children", all[i]);
            for (const auto& word : split(os::read_file(path).value_or(""), ' ')) {
                if (const auto pid = parse_integer(word)) all.push_back(static_cast<pid_t>(*pid));
            }
        }
        for (const pid_t pid : all)
            ::kill(pid, number);
    }
    void stop()
    {
        if (child_.pid <= 0) return;
        signal_all(SIGKILL);
        ::waitpid(child_.pid, nullptr, 0);
        child_.pid = -1;
    }

    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] const os::Path& path() const noexcept { return folder_.path(); }
    [[nodiscard]] Access access(const os::Path& home) const
    {
        Access access{
            .home = home, .address = {os::user_name(), "127.0.0.1", port_}, .environment = {}};
        for (char** word = environ; *word != nullptr; ++word)
            access.environment.emplace_back(*word);
        return access;
    }
    // As `attach` leaves it: host key known, key pair in place.
    [[nodiscard]] Access attached(const os::Path& home) const
    {
        const auto ours = access(home);
        const HostFolder folder(home, ours.address);
        (void)folder.make();
        (void)os::replace_file(folder.key(), os::read_file(path() / "client").value_or(""));
        (void)folder.write_settings({.address = ours.address, .identity = Identity::own});
        know(folder);
        return ours;
    }
    void know(const HostFolder& folder) const
    {
        (void)os::replace_file(folder.known_hosts(),
                               fmt::format("[127.0.0.1]:{} {}",
                                           port_,
                                           os::read_file(path() / "host.pub").value_or("")));
    }

private:
    static int free_port()
    {
        const os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(socket.get(), reinterpret_cast<sockaddr*>(&place), sizeof place);
        socklen_t size = sizeof place;
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&place), &size);
        return ntohs(place.sin_port);
    }
    [[nodiscard]] bool answers() const
    {
        const os::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_port = htons(static_cast<std::uint16_t>(port_));
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return ::connect(socket.get(), reinterpret_cast<sockaddr*>(&place), sizeof place) == 0;
    }

    os::TestFolder folder_;
    int port_ = 0;
    os::Child child_;
};

}  // namespace ponk::ssh
