// SPDX-License-Identifier: Apache-2.0
#include "ssh/login.hpp"

#include "base/text.hpp"
#include "ssh/askpass.hpp"
#include "ssh/key_pair.hpp"

#include <unistd.h>

namespace ponk::ssh {
namespace {

tl::unexpected<Refusal> refuse(const Error& error)
{
    return tl::unexpected(Refusal{Cause::other, error});
}

// The client whose ssh asks `server`.
Client asking(const Client& client, const AskServer& server)
{
    Client changed = client;
    changed.use_environment(server.environment(client.environment()));
    return changed;
}

// ssh itself does not say that a passphrase was wrong: it goes on without the key.
Result<> check_passphrase(const Client& client, Deadline deadline, std::stop_token stop)
{
    const auto& file = client.settings().key_file;
    const auto output = TRY(os::run({.argv = {"ssh-keygen", "-y", "-f", file.string()},
                                     .env = client.environment(),
                                     .directory = client.folder().path(),
                                     .session = os::Command::Session::own},
                                    deadline,
                                    std::move(stop)));
    if (output.exit.status() == 0) return {};
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("the passphrase of private key {} is not right", os::in_quotes(file)),
              "Leave '--private-key-passphrase' out to be asked."));
}

// Nobody is told that a password is wrong which was never sent.
Refusal not_asked(const Address& address, const std::string& question)
{
    const auto what =
        question.empty()
            ? fmt::format("'{}' turned us away without asking for the password", address.text())
            : fmt::format("'{}' did not ask for the password but: '{}'",
                          address.text(),
                          printable(trim(question)));
    return {
        Cause::other,
        Error(
            ErrorKind::unavailable,
            what,
            "The password was not sent. Use '--private-key-file FILE' with a key that the machine "
            "accepts, or load the key into your agent ('ssh-add') and omit the password.")};
}

}  // namespace

tl::expected<void, Refusal> open_with_password(const Client& client,
                                               const Resolved& host,
                                               Secret password,
                                               Deadline deadline,
                                               std::stop_token stop)
{
    const PasswordAnswer answer(std::move(password), host);
    const auto server = AskServer::start(client.folder(), answer);
    if (!server) return refuse(server.error());
    Opening opening{.asking = Asking::helper,
                    .options = {"PubkeyAuthentication=no",
                                "PasswordAuthentication=yes",
                                "KbdInteractiveAuthentication=yes",
                                "ChallengeResponseAuthentication=yes",
                                "PreferredAuthentications=password,keyboard-interactive",
                                "NumberOfPasswordPrompts=1"}};
    auto opened = open_master(asking(client, **server), opening, deadline, std::move(stop));
    if (opened || opened.error().cause != Cause::denied || answer.was_given()) return opened;
    // Who takes no passwords at all is told so by the caller.
    const auto& methods = opened.error().methods;
    if (methods.find("password") == std::string::npos &&
        methods.find("keyboard-interactive") == std::string::npos)
        return opened;
    return tl::unexpected(not_asked(client.address(), answer.other_question()));
}

tl::expected<void, Refusal>
open_with_key_file(const Client& client, Secret passphrase, Deadline deadline, std::stop_token stop)
{
    const bool needed = !passphrase.text().empty();
    const auto server = AskServer::start(
        client.folder(), answer_passphrase(std::move(passphrase), client.settings().key_file));
    if (!server) return refuse(server.error());
    const auto asked = asking(client, **server);
    if (needed) {
        const auto right = check_passphrase(asked, deadline, stop);
        if (!right) return tl::unexpected(Refusal{Cause::key_unusable, right.error()});
    }
    Opening opening{.asking = Asking::helper,
                    .options = {"PreferredAuthentications=publickey",
                                "IdentityAgent=none",
                                "NumberOfPasswordPrompts=1"}};
    return open_master(asked, opening, deadline, std::move(stop));
}

tl::expected<void, Refusal>
open_as_user(const Client& client, Asking asking, Deadline deadline, std::stop_token stop)
{
    return open_master(client, {.asking = asking}, deadline, std::move(stop));
}

Result<> change_to_own_key(const Client& client, Deadline deadline, std::stop_token stop)
{
    const auto line = TRY(make_key_pair(client, deadline, stop));
    Connection before(client);
    TRY(install_key(before, line, deadline, stop));

    Settings settings = client.settings();
    settings.identity = Identity::own;
    settings.key_file.clear();
    settings.installed_key = line;
    Client own = client;
    own.use_settings(settings);
    // Closing the connection loses the right to take the key away, so the second one has a socket
    // of its own until it is known to work.
    own.use_socket("master-new");
    const auto works =
        open_master(own,
                    {.options = {"PreferredAuthentications=publickey", "IdentityAgent=none"}},
                    deadline,
                    stop);
    discard_master(own);
    ::unlink(own.master_lock().c_str());
    ::unlink(own.master_log().c_str());
    if (!works) {
        const auto removed = remove_key(before, line, after(std::chrono::seconds(30)), {});
        before.close();
        Error error(
            ErrorKind::unavailable,
            fmt::format(
                "'{}' does not accept the key that was added to ~/.ssh/authorized_keys: {}{}",
                client.address().text(),
                works.error().error.message(),
                removed ? "" : "; the key could not be removed again"),
            "Its sshd may read another file (AuthorizedKeysFile), refuse keys, or reject the "
            "permissions of the home folder; see 'journalctl -u ssh' there. Or use "
            "'--private-key-file' with a key that works.");
        return tl::unexpected(std::move(error));
    }
    before.close();
    return client.folder().write_settings(settings);
}

}  // namespace ponk::ssh
