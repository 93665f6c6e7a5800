// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/host_login.hpp"

#include "base/text.hpp"
#include "cli/hosts/host_lock.hpp"
#include "cli/terminal/ask.hpp"
#include "ssh/host_key.hpp"
#include "ssh/key_pair.hpp"
#include "ssh/login.hpp"

#include <algorithm>
#include <utility>

namespace ponk::cli {
namespace {

using std::chrono::seconds;

constexpr int most_tries = 3;

Deadline soon()
{
    return after(seconds(60));
}

bool takes_passwords(const ssh::Refusal& refusal)
{
    return refusal.methods.find("password") != std::string::npos ||
           refusal.methods.find("keyboard-interactive") != std::string::npos;
}

Error refused_password(const ssh::Address& address, const ssh::Refusal& refusal)
{
    if (refusal.cause != ssh::Cause::denied) return refusal.error;
    if (!refusal.methods.empty() && !takes_passwords(refusal)) {
        return {ErrorKind::unavailable,
                fmt::format("'{}' does not accept passwords, only: {}",
                            address.text(),
                            printable(refusal.methods)),
                "Use '--private-key-file FILE' with a key that the machine accepts, or load the "
                "key into your agent ('ssh-add') and omit the password."};
    }
    return {ErrorKind::unavailable,
            fmt::format("'{}' does not accept the password, or has no such user", address.text()),
            has_terminal() ? "Check the user name and the password; omit '--password' to type it."
                           : "Check the user name and the password."};
}

Error refused_key(const ssh::Address& address, const os::Path& file, const ssh::Refusal& refusal)
{
    if (refusal.cause != ssh::Cause::denied) return refusal.error;
    return {ErrorKind::unavailable,
            fmt::format("'{}' does not accept the key {}, or has no such user",
                        address.text(),
                        os::in_quotes(file)),
            fmt::format("Check that the public key is in ~/.ssh/authorized_keys there; "
                        "'ssh-copy-id -i {}{} {}' adds it with a password.",
                        shell_word(file.string()),
                        address.port ? fmt::format(" -p {}", *address.port) : "",
                        shell_word(address.user.empty() ? address.host
                                                        : address.user + "@" + address.host))};
}

}  // namespace

Result<HostLogin> HostLogin::make(Context& context, const ssh::Access& access)
{
    auto lock = TRY(lock_host(context, access));
    const bool fresh = !ssh::HostFolder(access.home, access.address).exists();
    auto client = TRY(ssh::make_client(access));
    auto host = client.resolve(soon(), {});
    if (!host) {
        if (fresh) [[maybe_unused]]
            const auto removed = client.folder().remove();
        return tl::unexpected(host.error());
    }
    client.use_known_hosts(host->known_hosts);
    HostLogin login(context, access, std::move(client), std::move(*host), std::move(lock));
    login.folder_ = fresh ? Folder::fresh : Folder::was_there;
    login.before_ = TRY(login.client_.folder().read_settings());
    return login;
}

HostLogin::HostLogin(Context& context,
                     const ssh::Access& access,
                     ssh::Client client,
                     ssh::Resolved host,
                     os::FileLock lock)
    : context_(&context), access_(access), client_(std::move(client)), host_(std::move(host)),
      lock_(std::move(lock))
{
}

HostLogin::HostLogin(HostLogin&& other) noexcept
    : context_(other.context_), access_(std::move(other.access_)),
      client_(std::move(other.client_)), host_(std::move(other.host_)),
      lock_(std::move(other.lock_)), before_(std::move(other.before_)), folder_(other.folder_),
      installed_(other.installed_), done_(std::exchange(other.done_, true))
{
}

HostLogin::~HostLogin()
{
    if (!done_) take_back();
}

void HostLogin::take_back()
{
    const auto& folder = client_.folder();
    if (installed_) {
        auto open = connection();
        const auto settings = folder.read_settings();
        const auto removed = open && settings && *settings
                                 ? ssh::remove_key(*open, (*settings)->installed_key, soon(), {})
                                 : Result<>(fail(ErrorKind::unavailable, "not reached"));
        if (!removed) {
            context_->note("the key just added to ~/.ssh/authorized_keys on '{}' could not be "
                           "removed ({}); its line ends with 'ponk of …' and can be deleted",
                           access_.address.text(),
                           removed.error().message());
        }
    }
    ssh::discard_master(client_);
    [[maybe_unused]] const auto restored = folder_ == Folder::fresh ? folder.remove()
                                           : before_ ? folder.write_settings(*before_)
                                                     : Result<>();
}

Result<> HostLogin::log_in(Credentials given)
{
    const bool nothing_given = !given.password && given.key_file.empty() && !given.fingerprint;
    if (nothing_given && TRY(works_already())) {
        if (given.own_key == Credentials::OwnKey::always &&
            client_.settings().identity != ssh::Identity::own)
            return change_to_own_key(client_);
        return {};
    }
    // A connection of before must not answer for what is asked now.
    ssh::discard_master(client_);
    TRY(confirm_host_key(given.fingerprint));
    if (!given.key_file.empty()) return with_key_file(given);
    if (given.password) return with_password(std::move(*given.password));
    // The key that was made for this machine earlier opens it, whatever the user's own do.
    if (before_ && before_->identity == ssh::Identity::own && TRY(works_already())) return {};
    return as_user(given);
}

ssh::Settings HostLogin::fresh_settings() const
{
    ssh::Settings settings{.address = access_.address};
    if (before_) settings.targets = before_->targets;
    if (before_) settings.installed_key = before_->installed_key;
    return settings;
}

Result<bool> HostLogin::works_already()
{
    if (!before_) return false;
    ssh::Connection open(client_);
    const auto reached = open.try_connect(soon(), {});
    if (reached) return true;
    const auto cause = reached.error().cause;
    using ssh::Cause;
    if (cause == Cause::denied || cause == Cause::key_unusable ||
        cause == Cause::host_key_unknown || cause == Cause::host_key_changed)
        return false;
    return tl::unexpected(reached.error().error);
}

Result<> HostLogin::confirm_host_key(const std::optional<std::string>& fingerprint)
{
    if (fingerprint) {
        const auto key = TRY(ssh::learn_matching_key(client_, *fingerprint, soon(), {}));
        return ssh::remember_host_key(client_.folder(), key);
    }
    const auto checked = ssh::check_host_key(client_, soon(), {});
    if (checked) return {};
    const auto shown = TRY(presented_key(checked));
    TRY(ask_about(shown.key));
    return ssh::remember_host_key(client_.folder(), shown.key);
}

Result<ShownKey> HostLogin::show_host_key() const
{
    return presented_key(ssh::check_host_key(client_, soon(), {}));
}

Result<ShownKey> HostLogin::presented_key(const tl::expected<void, ssh::Refusal>& checked) const
{
    const auto cause = checked ? ssh::Cause::other : checked.error().cause;
    if (!checked && cause != ssh::Cause::host_key_unknown && cause != ssh::Cause::host_key_changed)
        return tl::unexpected(checked.error().error);
    auto key = TRY(ssh::learn_host_key(client_, {}, soon(), {}));
    const auto known = TRY(ssh::find_known_keys(client_, host_, key.name, soon(), {}));
    if (cause == ssh::Cause::host_key_changed || (!checked && !known.empty()))
        return tl::unexpected(ssh::changed_key_error(client_, key, known));
    const bool is_known = std::ranges::any_of(
        known, [&](const ssh::KnownKey& one) { return one.key.fingerprint == key.fingerprint; });
    return ShownKey{std::move(key),
                    is_known ? ShownKey::Standing::known : ShownKey::Standing::unknown};
}

Result<> HostLogin::ask_about(const ssh::HostKey& key) const
{
    const auto shown = fmt::format("'{}' presents the {} host key {}",
                                   access_.address.text(),
                                   key.short_type(),
                                   key.fingerprint);
    if (!has_terminal()) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    shown + ", which is not known yet",
                                    fmt::format("Compare it with the fingerprint from the "
                                                "machine's owner, then add '--fingerprint {}'.",
                                                key.fingerprint)));
    }
    context_->note("{}", shown);
    return confirm("Accept this host key?");
}

Result<> HostLogin::with_key_file(Credentials& given)
{
    const auto kind = TRY(ssh::inspect_key_file(client_, given.key_file, soon(), {}));
    auto settings = fresh_settings();
    settings.identity = ssh::Identity::file;
    settings.key_file = given.key_file;
    client_.use_settings(settings);
    ssh::Secret passphrase;
    if (kind == ssh::KeyFile::has_passphrase && given.passphrase) {
        passphrase = std::move(*given.passphrase);
    } else if (kind == ssh::KeyFile::has_passphrase) {
        if (!has_terminal()) {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("private key {} has a passphrase", os::in_quotes(given.key_file)),
                      "Run this on a terminal, where ponk asks for it, or use "
                      "'--private-key-passphrase'."));
        }
        passphrase = ssh::Secret(
            TRY(read_secret(fmt::format("Passphrase of {}", os::in_quotes(given.key_file)))));
    }
    const auto open = ssh::open_with_key_file(client_, std::move(passphrase), soon(), {});
    if (!open) return tl::unexpected(refused_key(access_.address, given.key_file, open.error()));
    if (kind == ssh::KeyFile::open && given.own_key == Credentials::OwnKey::when_needed) {
        context_->note("from now on, runs connect to '{}' with the key {}",
                       access_.address.text(),
                       os::in_quotes(given.key_file));
        return client_.folder().write_settings(settings);
    }
    if (kind == ssh::KeyFile::has_passphrase)
        context_->note("your key has a passphrase, which runs cannot type: ponk creates a key for "
                       "this host and adds it there");
    return change_to_own_key(client_);
}

Result<> HostLogin::with_password(ssh::Secret password)
{
    const auto open = ssh::open_with_password(client_, host_, std::move(password), soon(), {});
    if (!open) return tl::unexpected(refused_password(access_.address, open.error()));
    return change_to_own_key(client_);
}

Result<> HostLogin::with_asked_password(const ssh::Refusal& why)
{
    if (!has_terminal() || (!why.methods.empty() && !takes_passwords(why))) {
        Error error(ErrorKind::unavailable,
                    fmt::format("'{}' accepts none of your keys", access_.address.text()),
                    takes_passwords(why)
                        ? "Run this on a terminal, where ponk asks for the password and uses it "
                          "once, or use '--private-key-file FILE'."
                        : "The machine accepts only keys: use '--private-key-file FILE', or load a "
                          "key into your agent with 'ssh-add'.");
        return tl::unexpected(std::move(error));
    }
    for (int tries = 1;; ++tries) {
        ssh::Secret password(TRY(read_secret(
            fmt::format("Password of '{}' (used once, to add a key)", access_.address.text()))));
        if (password.text().empty())
            return fail(ErrorKind::cancelled, "no password given: nothing was changed");
        const auto open = ssh::open_with_password(client_, host_, std::move(password), soon(), {});
        if (open) return change_to_own_key(client_);
        const auto error = refused_password(access_.address, open.error());
        if (open.error().cause != ssh::Cause::denied || tries == most_tries)
            return tl::unexpected(error);
        context_->note("{}", error.message());
    }
}

Result<> HostLogin::as_user(const Credentials& given)
{
    client_.use_settings(fresh_settings());
    const auto open = ssh::open_as_user(client_, ssh::Asking::never, soon(), {});
    if (open) {
        if (given.own_key == Credentials::OwnKey::always) return change_to_own_key(client_);
        return client_.folder().write_settings(client_.settings());
    }
    if (open.error().cause != ssh::Cause::denied) return tl::unexpected(open.error().error);
    const bool passwords = takes_passwords(open.error());
    if (given.own_key == Credentials::OwnKey::always && !passwords && has_terminal())
        return with_pasted_key();
    return with_asked_password(open.error());
}

// As the predecessor did where it could not install its key itself.
Result<> HostLogin::with_pasted_key()
{
    const auto line = TRY(ssh::make_key_pair(client_, soon(), {}));
    context_->note("add this line to ~/.ssh/authorized_keys on '{}':", access_.address.text());
    TRY(Context::print_text(line + "\n"));
    TRY(ask_line("Press Enter when the line is added"));
    auto settings = fresh_settings();
    settings.identity = ssh::Identity::own;
    settings.installed_key = line;
    client_.use_settings(settings);
    const auto open = ssh::open_as_user(client_, ssh::Asking::never, soon(), {});
    if (!open) return tl::unexpected(open.error().error);
    return client_.folder().write_settings(settings);
}

Result<> HostLogin::change_to_own_key(const ssh::Client& client)
{
    TRY(ssh::change_to_own_key(client, soon(), {}));
    installed_ = true;
    context_->note("a new key for this host was added to ~/.ssh/authorized_keys on '{}'",
                   access_.address.text());
    return {};
}

Result<> HostLogin::keep(const os::Path& compute_file)
{
    auto settings = TRY(client_.folder().read_settings());
    if (!settings) return fail(ErrorKind::internal, "the host has no settings");
    if (std::ranges::find(settings->targets, compute_file.string()) == settings->targets.end())
        settings->targets.push_back(compute_file.string());
    TRY(client_.folder().write_settings(*settings));
    done_ = true;
    lock_.reset();
    return {};
}

}  // namespace ponk::cli
