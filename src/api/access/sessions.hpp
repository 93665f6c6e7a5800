// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/tokens.hpp"
#include "base/synced.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace ponk::api {

// What is kept of a page's session: never its text.
struct Session {
    std::string id;               // names it in lists and for those who end it
    Digest digest;                // of the text that the page sends
    std::optional<Digest> token;  // it was made with this token and ends with it; none: the owner's
    std::int64_t created = 0;     // wall-clock milliseconds
    std::int64_t expires = 0;
    std::string peer = {};   // the address from which it was made
    std::string agent = {};  // the browser, as it names itself

    friend bool operator==(const Session&, const Session&) = default;
};

// The file `sessions`, docs/design/sessions.md.
std::string sessions_text(const std::vector<Session>& sessions);
Result<std::vector<Session>> parse_sessions(std::string_view text);

// What a session that may open command prompts (docs/design/prompt.md) has from who typed
// `ponk ui --prompt`: shells begin with it.
struct PromptRight {
    std::vector<std::string> environment;  // "K=V"
    mode_t umask = 022;
};

// What a code is for.
struct Login {
    std::shared_ptr<const PromptRight> prompt = {};  // null: without prompts
};

// Codes with which a page gets the owner's session: for one use, within a minute. They live as long
// as the daemon. Safe for several threads.
class LoginCodes {
public:
    // `clock` gives milliseconds that never go back.
    explicit LoginCodes(std::function<std::int64_t()> clock);

    static constexpr std::int64_t lifetime = 60'000;

    std::string make(Login login = {});
    // What it is for, if it is one; it is none from then on.
    std::optional<Login> take(std::string_view code);
    // Forgets those whose minute is over. What nobody takes is forgotten when this is called.
    void drop_expired();

private:
    struct Code {
        std::int64_t until = 0;
        Login login = {};
    };
    using Codes = std::map<Digest, Code>;
    static void drop_expired(Codes& codes, std::int64_t now);
    static void
    make_room(Codes& codes, std::size_t most, const std::function<bool(const Code&)>& counts);

    std::function<std::int64_t()> clock_;
    Synced<Codes> codes_;
};

// Who uses the page. Kept in the file `sessions` of the home folder, so that a new daemon knows
// them. Safe for several threads; `find` waits for nothing.
class Sessions {
public:
    // A damaged file is set aside and reported in `notice`: pages have to log in again.
    static Result<std::unique_ptr<Sessions>> open(os::Path home, const Tokens& tokens);

    struct Made {
        std::string text;  // what the page sends from now on, never shown again
        Session session;
    };
    struct From {
        std::optional<std::string> token;  // none: it is the owner's
        std::string peer;
        std::string agent;
    };
    // `not_found` when the token is none.
    Result<Made> create(const From& from);
    Result<> remove(std::string_view id);

    struct Known {
        Session session;
        std::string token;  // the name of its token; empty: it is the owner's
        Role role = Role::read;
        std::int64_t used = 0;  // the last time since the daemon began; 0: not yet
    };
    // Nothing for what is no session, has expired, or was made with a token that is gone.
    [[nodiscard]] std::optional<Known> find(std::string_view text) const;
    [[nodiscard]] std::optional<Known> find_by_id(std::string_view id) const;
    [[nodiscard]] std::vector<Known> list() const;

    [[nodiscard]] const std::string& notice() const { return notice_; }

    static bool is_session_text(std::string_view text);

private:
    Sessions(os::Path home, const Tokens& tokens) : home_(std::move(home)), tokens_(tokens) {}
    [[nodiscard]] std::optional<Known> living(const Session& session) const;
    Result<> store(std::vector<Session> sessions);
    [[nodiscard]] std::vector<Session> all() const;

    struct Entry {
        Session session;
        std::int64_t used = 0;
    };

    os::Path home_;
    const Tokens& tokens_;
    std::string notice_;
    std::mutex changing_;  // from reading the list to its being on disk
    mutable Synced<std::map<Digest, Entry>> entries_;
};

}  // namespace ponk::api
