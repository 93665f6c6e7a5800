// SPDX-License-Identifier: Apache-2.0
#include "api/access/tokens.hpp"

#include "base/json.hpp"
#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/work_count.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::api {

namespace {

constexpr std::size_t most_tokens = 1000;
constexpr std::size_t longest_name = 64;
constexpr std::size_t longest_file = std::size_t{1} << 20;
constexpr std::string_view beginning = "ponk_";  // so that searches for leaked secrets find it

Result<> check_name(std::string_view name)
{
    const auto usual = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    };
    if (name.empty() || name.size() > longest_name || name.front() == '.' || name.front() == '-' ||
        !std::all_of(name.begin(), name.end(), usual)) {
        return fail(ErrorKind::invalid_argument,
                    "'{}' cannot be the name of a token: 1 to {} of letters, digits, '_', '-', '.'",
                    printable(name.substr(0, 80)),
                    longest_name);
    }
    return {};
}

// Takes as long for a wrong one as for the right one.
template <class Bytes, class Others>
bool same(const Bytes& left, const Others& right)
{
    if (left.size() != right.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < left.size(); ++i)
        difference |= static_cast<unsigned>(static_cast<unsigned char>(left[i] ^ right[i]));
    return difference == 0;
}

Result<Token> parse_token(const Json& entry)
{
    Token token;
    token.name = entry.text("name");
    TRY(check_name(token.name));
    token.role = TRY(parse_role(entry.text("role")));
    const auto created = parse_utc(entry.text("created"));
    const auto expires = parse_utc(entry.text("expires"));
    if (!parse_digest(entry.text("sha256"), token.digest) || !created ||
        (!entry["expires"].is_null() && !expires))
        return fail(ErrorKind::damaged, "token '{}' is damaged", token.name);
    token.created = *created;
    token.expires = expires;
    return token;
}

}  // namespace

const char* to_string(Role role)
{
    switch (role) {
    case Role::read:
        return "read";
    case Role::write:
        return "write";
    case Role::promote:
        return "promote";
    case Role::administer:
        return "administer";
    }
    return "read";
}

Result<Role> parse_role(std::string_view text)
{
    for (const auto role : {Role::read, Role::write, Role::promote, Role::administer}) {
        if (text == to_string(role)) return role;
    }
    return fail(ErrorKind::invalid_argument,
                "'{}' is not a role: read, write, promote or administer",
                printable(text.substr(0, 80)));
}

std::string tokens_text(const std::vector<Token>& tokens)
{
    JsonArray entries;
    for (const auto& token : tokens) {
        entries.emplace_back(
            JsonObject{{"name", token.name},
                       {"role", to_string(token.role)},
                       {"sha256", token.digest.text()},
                       {"created", utc_text(token.created)},
                       {"expires", token.expires ? Json(utc_text(*token.expires)) : Json()}});
    }
    return to_json(JsonObject{{"version", 1}, {"tokens", std::move(entries)}}, JsonStyle::pretty) +
           "\n";
}

Result<std::vector<Token>> parse_tokens(std::string_view text)
{
    const auto document = TRY(parse_json(text));
    if (document.integer("version") != 1 || !document["tokens"].is_array())
        return fail(ErrorKind::damaged, "not a list of tokens of version 1");
    std::vector<Token> tokens;
    for (const auto& entry : document["tokens"].as_array())
        tokens.push_back(TRY(parse_token(entry)));
    return tokens;
}

Result<std::unique_ptr<Tokens>> Tokens::open(os::Path home)
{
    std::unique_ptr<Tokens> tokens(new Tokens(std::move(home)));
    const auto file = tokens->home_ / "tokens";
    const auto text = TRY(os::read_file_if_any(file, longest_file));
    if (!text) return tokens;
    auto list = parse_tokens(*text);
    if (list) {
        tokens->list_.lock()->list = std::make_shared<const List>(std::move(*list));
        return tokens;
    }
    const os::Path aside = tokens->home_ / fmt::format("tokens.damaged-{}", wall_milliseconds());
    if (::rename(file.c_str(), aside.c_str()) != 0)
        return fail_errno(errno, "set {} aside", os::in_quotes(file));
    tokens->notice_ = fmt::format(
        "the list of tokens was damaged ({}) and was moved to {}: earlier tokens no longer work",
        list.error().message(),
        os::in_quotes(aside));
    return tokens;
}

Result<std::string>
Tokens::create(const std::string& name, Role role, std::optional<std::int64_t> expires)
{
    TRY(check_name(name));
    if (name == local_name)
        return fail(ErrorKind::invalid_argument, "the token name '{}' is reserved for ponk", name);
    if (expires && *expires <= wall_milliseconds())
        return fail(ErrorKind::invalid_argument, "the expiry time of the token is in the past");
    const std::lock_guard lock(changing_);
    return add(name, role, expires);
}

Result<std::string>
Tokens::add(const std::string& name, Role role, std::optional<std::int64_t> expires)
{
    auto list = *current();
    const auto taken = [&name](const Token& token) { return token.name == name; };
    if (std::any_of(list.begin(), list.end(), taken)) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    fmt::format("a token '{}' already exists", name),
                                    "Remove it first, or choose another name."));
    }
    if (list.size() >= most_tokens)
        return fail(ErrorKind::conflict, "there are {} tokens already", most_tokens);
    auto text = std::string(beginning) + to_hex(random_bytes(32));
    list.push_back({name, role, sha256(text), wall_milliseconds(), expires});
    TRY(store(std::move(list)));
    return text;
}

Result<> Tokens::store(List list)
{
    TRY(os::replace_file(home_ / "tokens", tokens_text(list)));
    *list_.lock() = {.list = std::make_shared<const List>(std::move(list))};
    return {};
}

Result<> Tokens::set_role(std::string_view name, Role role)
{
    auto list = *current();
    for (auto& token : list) {
        if (token.name == name) token.role = role;
    }
    return store(std::move(list));
}

Result<> Tokens::remove(std::string_view name)
{
    const std::lock_guard lock(changing_);
    auto list = *current();
    const auto removed =
        std::erase_if(list, [name](const Token& token) { return token.name == name; });
    if (removed == 0)
        return fail(ErrorKind::not_found, "there is no token '{}'", printable(name.substr(0, 80)));
    TRY(store(std::move(list)));
    if (name == local_name) ::unlink((home_ / "token").c_str());
    return {};
}

std::optional<Role> Tokens::role_of(std::string_view token) const
{
    const auto known = find(token);
    return known ? std::optional(known->role) : std::nullopt;
}

namespace {

std::optional<Tokens::Known> unless_expired(const Token& found)
{
    const bool expired = found.expires && *found.expires <= wall_milliseconds();
    return expired ? std::nullopt : std::optional(Tokens::Known{found.name, found.role});
}

const Token* find_in(const std::vector<Token>& list, const Digest& digest)
{
    const Token* found = nullptr;
    for (const auto& known : list) {
        if (same(known.digest.bytes, digest.bytes)) found = &known;
    }
    return found;
}

}  // namespace

std::optional<Tokens::Known> Tokens::find(const Digest& digest) const
{
    const auto list = current();
    const auto* found = find_in(*list, digest);
    return found == nullptr ? std::nullopt : unless_expired(*found);
}

std::optional<Tokens::Known> Tokens::find(std::string_view token) const
{
    const auto place = keyed_hash(token);
    std::shared_ptr<const List> list;
    {
        const auto current = list_.lock();
        if (const auto seen = current->seen.find(place);
            seen != current->seen.end() && same(seen->second.text, token))
            return unless_expired(*seen->second.token);
        list = current->list;
    }
    count_work(token.size());
    const auto* found = find_in(*list, sha256(token));
    if (found == nullptr) return std::nullopt;
    const auto current = list_.lock();
    if (current->list == list) current->seen.emplace(place, Seen{std::string(token), found});
    return unless_expired(*found);
}

Result<std::string> Tokens::local_token()
{
    const std::lock_guard lock(changing_);
    const auto file = home_ / "token";
    if (const auto text = TRY(os::read_file_if_any(file, 4096))) {
        const std::string token(trim(*text));
        const auto role = role_of(token);
        // Made before there was such a role.
        if (role == Role::write) TRY(set_role(local_name, Role::promote));
        if (role) return token;
    }
    // The list knows one whose text is lost, or none.
    auto list = *current();
    if (std::erase_if(list, [](const Token& token) { return token.name == local_name; }) > 0)
        TRY(store(std::move(list)));
    auto token = TRY(add(local_name, Role::promote, std::nullopt));
    TRY(os::replace_file(file, token + "\n"));
    return token;
}

}  // namespace ponk::api
