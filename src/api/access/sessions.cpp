// SPDX-License-Identifier: Apache-2.0
#include "api/access/sessions.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::api {

namespace {

constexpr std::string_view beginning = "ponk_session_";  // so that searches for leaks find it
constexpr std::int64_t lifetime = std::int64_t{30} * 86'400'000;
constexpr std::size_t most_of_a_token = 50;
constexpr std::size_t most_codes = 100;
constexpr std::size_t most_prompt_codes = 4;  // each has the variables of a terminal
constexpr std::size_t longest_file = std::size_t{8} << 20;
constexpr std::size_t longest_agent = 200;

Result<Session> parse_session(const Json& entry)
{
    Session session;
    session.id = entry.text("id");
    const auto created = parse_utc(entry.text("created"));
    const auto expires = parse_utc(entry.text("expires"));
    Digest token;
    const bool has_token = !entry["token_sha256"].is_null();
    if (session.id.empty() || !parse_digest(entry.text("sha256"), session.digest) || !created ||
        !expires || (has_token && !parse_digest(entry.text("token_sha256"), token)))
        return fail(ErrorKind::damaged, "session '{}' is damaged", printable(session.id));
    if (has_token) session.token = token;
    session.created = *created;
    session.expires = *expires;
    session.peer = entry.text("peer");
    session.agent = entry.text("agent");
    return session;
}

}  // namespace

std::string sessions_text(const std::vector<Session>& sessions)
{
    JsonArray entries;
    for (const auto& session : sessions) {
        entries.emplace_back(
            JsonObject{{"id", session.id},
                       {"sha256", session.digest.text()},
                       {"token_sha256", session.token ? Json(session.token->text()) : Json()},
                       {"created", utc_text(session.created)},
                       {"expires", utc_text(session.expires)},
                       {"peer", session.peer},
                       {"agent", session.agent}});
    }
    return to_json(JsonObject{{"version", 1}, {"sessions", std::move(entries)}},
                   JsonStyle::pretty) +
           "\n";
}

Result<std::vector<Session>> parse_sessions(std::string_view text)
{
    const auto document = TRY(parse_json(text));
    if (document.integer("version") != 1 || !document["sessions"].is_array())
        return fail(ErrorKind::damaged, "not a list of sessions of version 1");
    std::vector<Session> sessions;
    for (const auto& entry : document["sessions"].as_array())
        sessions.push_back(TRY(parse_session(entry)));
    return sessions;
}

LoginCodes::LoginCodes(std::function<std::int64_t()> clock) : clock_(std::move(clock)) {}

std::string LoginCodes::make(Login login)
{
    const auto now = clock_();
    auto code = to_hex(random_bytes(32));
    const auto codes = codes_.lock();
    drop_expired(*codes, now);
    make_room(*codes, most_codes, [](const Code&) { return true; });
    if (login.prompt)
        make_room(*codes, most_prompt_codes, [](const Code& each) {
            return each.login.prompt != nullptr;
        });
    codes->emplace(sha256(code), Code{now + lifetime, std::move(login)});
    return code;
}

std::optional<Login> LoginCodes::take(std::string_view code)
{
    const auto digest = sha256(code);
    const auto codes = codes_.lock();
    drop_expired(*codes, clock_());
    auto node = codes->extract(digest);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped().login);
}

void LoginCodes::drop_expired()
{
    const auto now = clock_();
    drop_expired(*codes_.lock(), now);
}

void LoginCodes::drop_expired(Codes& codes, std::int64_t now)
{
    std::erase_if(codes, [now](const auto& entry) { return entry.second.until <= now; });
}

// Of those that count the oldest go, until one more is no more than `most`.
void LoginCodes::make_room(Codes& codes,
                           std::size_t most,
                           const std::function<bool(const Code&)>& counts)
{
    for (;;) {
        std::size_t count = 0;
        auto oldest = codes.end();
        for (auto at = codes.begin(); at != codes.end(); ++at) {
            if (!counts(at->second)) continue;
            ++count;
            if (oldest == codes.end() || at->second.until < oldest->second.until) oldest = at;
        }
        if (count < most) return;
        codes.erase(oldest);
    }
}

bool Sessions::is_session_text(std::string_view text)
{
    return text.starts_with(beginning);
}

Result<std::unique_ptr<Sessions>> Sessions::open(os::Path home, const Tokens& tokens)
{
    std::unique_ptr<Sessions> sessions(new Sessions(std::move(home), tokens));
    const auto file = sessions->home_ / "sessions";
    const auto text = TRY(os::read_file_if_any(file, longest_file));
    if (!text) return sessions;
    auto list = parse_sessions(*text);
    if (list) {
        const auto entries = sessions->entries_.lock();
        for (auto& session : *list) {
            const auto digest = session.digest;
            entries->emplace(digest, Entry{std::move(session)});
        }
        return sessions;
    }
    const os::Path aside =
        sessions->home_ / fmt::format("sessions.damaged-{}", wall_milliseconds());
    if (::rename(file.c_str(), aside.c_str()) != 0)
        return fail_errno(errno, "set {} aside", os::in_quotes(file));
    sessions->notice_ = fmt::format(
        "the list of the page's sessions was damaged ({}) and was moved to {}: 'ponk ui' opens the "
        "page again",
        list.error().message(),
        os::in_quotes(aside));
    return sessions;
}

std::optional<Sessions::Known> Sessions::living(const Session& session) const
{
    if (session.expires <= wall_milliseconds()) return std::nullopt;
    if (!session.token) return Known{session, "", Role::administer};
    const auto token = tokens_.find(*session.token);
    if (!token) return std::nullopt;
    return Known{session, token->name, token->role};
}

Result<Sessions::Made> Sessions::create(const From& from)
{
    const auto now = wall_milliseconds();
    Made made;
    made.text = std::string(beginning) + to_hex(random_bytes(32));
    made.session = {.id = to_hex(random_bytes(8)),
                    .digest = sha256(made.text),
                    .token = {},
                    .created = now,
                    .expires = now + lifetime,
                    .peer = from.peer,
                    .agent = printable(from.agent.substr(0, longest_agent))};
    if (from.token) {
        made.session.token = sha256(*from.token);
        if (!tokens_.find(*from.token))
            return fail(ErrorKind::not_found, "the token is unknown or has expired");
    }
    const std::lock_guard lock(changing_);
    auto list = all();
    // Those that count no more go first; then the oldest of the same token gives way.
    std::erase_if(list, [this](const Session& session) { return !living(session); });
    const auto same = [&made](const Session& session) {
        return session.token == made.session.token;
    };
    if (std::count_if(list.begin(), list.end(), same) >=
        static_cast<std::ptrdiff_t>(most_of_a_token)) {
        auto oldest = list.end();
        for (auto at = list.begin(); at != list.end(); ++at) {
            if (same(*at) && (oldest == list.end() || at->created < oldest->created)) oldest = at;
        }
        list.erase(oldest);
    }
    list.push_back(made.session);
    TRY(store(std::move(list)));
    return made;
}

Result<> Sessions::remove(std::string_view id)
{
    const std::lock_guard lock(changing_);
    auto list = all();
    const auto removed =
        std::erase_if(list, [id](const Session& session) { return session.id == id; });
    if (removed == 0)
        return fail(ErrorKind::not_found, "there is no session '{}'", printable(id.substr(0, 80)));
    return store(std::move(list));
}

std::optional<Sessions::Known> Sessions::find(std::string_view text) const
{
    if (!is_session_text(text)) return std::nullopt;
    const auto digest = sha256(text);
    std::optional<Session> session;
    {
        const auto entries = entries_.lock();
        const auto found = entries->find(digest);
        if (found == entries->end()) return std::nullopt;
        found->second.used = wall_milliseconds();
        session = found->second.session;
    }
    return living(*session);
}

std::optional<Sessions::Known> Sessions::find_by_id(std::string_view id) const
{
    std::optional<Entry> entry;
    {
        const auto entries = entries_.lock();
        const auto found = std::find_if(entries->begin(), entries->end(), [id](const auto& each) {
            return each.second.session.id == id;
        });
        if (found == entries->end()) return std::nullopt;
        entry = found->second;
    }
    auto known = living(entry->session);
    if (known) known->used = entry->used;
    return known;
}

std::vector<Sessions::Known> Sessions::list() const
{
    std::vector<Entry> entries;
    {
        const auto now = entries_.lock();
        for (const auto& [digest, entry] : *now)
            entries.push_back(entry);
    }
    std::vector<Known> known;
    for (const auto& entry : entries) {
        auto session = living(entry.session);
        if (!session) continue;
        session->used = entry.used;
        known.push_back(*std::move(session));
    }
    std::sort(known.begin(), known.end(), [](const Known& left, const Known& right) {
        return left.session.created > right.session.created;
    });
    return known;
}

std::vector<Session> Sessions::all() const
{
    std::vector<Session> list;
    const auto entries = entries_.lock();
    for (const auto& [digest, entry] : *entries)
        list.push_back(entry.session);
    std::sort(list.begin(), list.end(), [](const Session& left, const Session& right) {
        return left.created < right.created;
    });
    return list;
}

Result<> Sessions::store(std::vector<Session> sessions)
{
    TRY(os::replace_file(home_ / "sessions", sessions_text(sessions)));
    const auto entries = entries_.lock();
    std::map<Digest, Entry> next;
    for (auto& session : sessions) {
        const auto digest = session.digest;
        const auto before = entries->find(digest);
        const auto used = before == entries->end() ? 0 : before->second.used;
        next.emplace(digest, Entry{std::move(session), used});
    }
    entries->swap(next);
    return {};
}

}  // namespace ponk::api
