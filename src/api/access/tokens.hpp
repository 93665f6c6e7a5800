// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/synced.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::api {

// Each includes those before it.
enum class Role { read, write, promote, administer };
const char* to_string(Role role);
Result<Role> parse_role(std::string_view text);

// What is kept of a token: never the token itself.
struct Token {
    std::string name;
    Role role = Role::read;
    Digest digest;
    std::int64_t created = 0;  // wall-clock milliseconds
    std::optional<std::int64_t> expires = {};
};

// The file `tokens`, docs/design/tokens.md.
std::string tokens_text(const std::vector<Token>& tokens);
Result<std::vector<Token>> parse_tokens(std::string_view text);

// Who may come in by TCP. Kept in the files `tokens` and `token` of the home folder. Safe for
// several threads; `find` and `role_of` wait for nothing.
class Tokens {
public:
    // A damaged file is set aside and reported in `notice`: its tokens are no longer accepted.
    static Result<std::unique_ptr<Tokens>> open(os::Path home);

    // The token itself, which is never shown again. `conflict` when the name is taken.
    Result<std::string>
    create(const std::string& name, Role role, std::optional<std::int64_t> expires);
    Result<> remove(std::string_view name);
    [[nodiscard]] std::vector<Token> list() const { return *current(); }
    // Nothing for what is not a token, or one that has expired.
    [[nodiscard]] std::optional<Role> role_of(std::string_view token) const;
    struct Known {
        std::string name;
        Role role = Role::read;
    };
    [[nodiscard]] std::optional<Known> find(std::string_view token) const;
    // The one with this hash.
    [[nodiscard]] std::optional<Known> find(const Digest& digest) const;

    // The one for this user's own clients on this machine, with the role `promote`: made when it
    // is not there.
    Result<std::string> local_token();

    [[nodiscard]] const std::string& notice() const { return notice_; }

    static constexpr const char* local_name = "local";

private:
    using List = std::vector<Token>;
    struct Seen {
        std::string text;
        const Token* token;
    };
    // The list, and the tokens in it that were asked for: a hash with each request costs as much as
    // all other questions together. Only what is a token comes in here.
    struct Current {
        std::shared_ptr<const List> list = std::make_shared<const List>();
        std::map<std::uint64_t, Seen> seen = {};  // by keyed hash
    };

    explicit Tokens(os::Path home) : home_(std::move(home)) {}
    [[nodiscard]] std::shared_ptr<const List> current() const { return list_.lock()->list; }
    Result<std::string>
    add(const std::string& name, Role role, std::optional<std::int64_t> expires);
    Result<> store(List list);
    Result<> set_role(std::string_view name, Role role);

    os::Path home_;
    std::string notice_;
    // One change at a time, from reading the list to its being on disk. Asking takes the other.
    std::mutex changing_;
    mutable Synced<Current> list_;
};

}  // namespace ponk::api
