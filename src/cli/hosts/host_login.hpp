// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "os/file_lock.hpp"
#include "ssh/connection.hpp"
#include "ssh/failure.hpp"
#include "ssh/host_key.hpp"
#include "ssh/secret.hpp"

#include <optional>

namespace ponk::cli {

// What the user gave to get into a host.
struct Credentials {
    std::optional<ssh::Secret> password = std::nullopt;
    os::Path key_file = {};
    std::optional<ssh::Secret> passphrase = std::nullopt;
    // Whether a key is made for the host even where one of the user's own works.
    enum class OwnKey { when_needed, always } own_key = OwnKey::when_needed;
    std::optional<std::string> fingerprint = std::nullopt;  // of the host key that is expected
};

// The key that a host presents, and whether this machine's files already have it.
struct ShownKey {
    ssh::HostKey key;
    enum class Standing { known, unknown } standing = Standing::unknown;
};

// The first login on a host: its host key is confirmed, whatever is missing is asked for on the
// terminal, and what comes out is a login that needs nobody. Until `keep` all of it is taken back
// when the object goes: a key that was installed, and what is in the host's folder if that is new.
class HostLogin {
public:
    static Result<HostLogin> make(Context& context, const ssh::Access& access);
    ~HostLogin();
    HostLogin(HostLogin&& other) noexcept;
    HostLogin& operator=(HostLogin&&) = delete;

    // Asks the host for its key and goes no further. `conflict` where another one is known.
    [[nodiscard]] Result<ShownKey> show_host_key() const;
    // Fails with the reason in words and the next step.
    Result<> log_in(Credentials given);
    // What was done stays, and belongs to this file of a target.
    Result<> keep(const os::Path& compute_file);

    [[nodiscard]] const ssh::Resolved& host() const noexcept { return host_; }
    [[nodiscard]] const ssh::Client& client() const noexcept { return client_; }
    // A connection with the settings that the login left.
    Result<ssh::Connection> connection() const { return ssh::Connection::make(access_); }

private:
    enum class Folder { fresh, was_there };
    HostLogin(Context& context,
              const ssh::Access& access,
              ssh::Client client,
              ssh::Resolved host,
              os::FileLock lock);

    Result<> confirm_host_key(const std::optional<std::string>& fingerprint);
    // After the look at it that found it known, unknown or changed.
    [[nodiscard]] Result<ShownKey>
    presented_key(const tl::expected<void, ssh::Refusal>& checked) const;
    Result<> ask_about(const ssh::HostKey& key) const;
    // With what else is known about the host.
    [[nodiscard]] ssh::Settings fresh_settings() const;
    Result<bool> works_already();
    Result<> with_key_file(Credentials& given);
    Result<> with_password(ssh::Secret password);
    Result<> with_asked_password(const ssh::Refusal& why);
    Result<> as_user(const Credentials& given);
    Result<> with_pasted_key();
    Result<> change_to_own_key(const ssh::Client& client);
    void take_back();

    Context* context_;
    ssh::Access access_;
    ssh::Client client_;
    ssh::Resolved host_;
    std::optional<os::FileLock> lock_;     // until it is kept: attaches to one host take turns
    std::optional<ssh::Settings> before_;  // settings that were there
    Folder folder_ = Folder::fresh;
    bool installed_ = false;
    bool done_ = false;  // kept, or moved from
};

}  // namespace ponk::cli
