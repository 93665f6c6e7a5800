// SPDX-License-Identifier: Apache-2.0
#include "environment/address_parts.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace ponk::environment {

namespace {

bool is_host(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_' ||
           c == '[' || c == ']';
}

// SSH addresses name a user who is no secret ("git@…").
bool is_ssh(std::string_view text, std::size_t colon)
{
    std::size_t begin = colon;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) != 0 ||
                         text[begin - 1] == '+' || text[begin - 1] == '-'))
        --begin;
    return text.substr(begin, colon - begin).find("ssh") != std::string_view::npos;
}

// "3128" of "host:3128" and of "host:3128/"; not the "sha256:0123…" of an image's digest.
bool begins_with_port(std::string_view text)
{
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    return digits > 0 && digits <= 5 && (digits == text.size() || !is_host(text[digits]));
}

bool speaks_of_proxy(std::string_view text, std::size_t at)
{
    const auto newline = text.substr(0, at).rfind('\n');
    const auto begin = newline == std::string_view::npos ? 0 : newline + 1;
    return lower(text.substr(begin, at - begin)).find("proxy") != std::string::npos;
}

}  // namespace

bool ends_address(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return std::isspace(byte) != 0 || std::iscntrl(byte) != 0 || c == '"' || c == '\'' ||
           c == '<' || c == '>' || c == '`';
}

Address address_at(std::string_view text, std::size_t colon)
{
    Address address;
    const std::size_t start = colon + 3;
    std::size_t end = start;
    while (end < text.size() && !ends_address(text[end]))
        ++end;
    address.end = end;
    const auto rest = text.substr(start, end - start);
    const std::size_t authority = std::min(rest.find_first_of("/?#"), rest.size());
    const std::size_t at = rest.substr(0, authority).rfind('@');
    if (at != std::string_view::npos) {
        const auto user = rest.substr(0, at);
        if (!is_ssh(text, colon) || user.find(':') != std::string_view::npos)
            address.user = {start, start + at};
    }
    const std::size_t fragment = std::min(rest.find('#'), rest.size());
    const std::size_t question = std::min(rest.find('?'), fragment);
    if (question < fragment) address.query = {start + question + 1, start + fragment};
    const std::size_t token = rest.substr(0, question).find("/t/", authority);
    if (token != std::string_view::npos) {
        const std::size_t begin = token + 3;
        address.token = {start + begin, start + std::min(rest.find('/', begin), question)};
    }
    return address;
}

bool is_credential(std::string_view query_name)
{
    static constexpr std::string_view names[] = {
        "sig", "se",    "st",           "sp",      "sv",         "sr",      "ss",
        "srt", "spr",   "sip",          "sks",     "skt",        "ske",     "skv",
        "tok", "token", "access_token", "api_key", "signature",  "expires", "awsaccesskeyid",
        "key", "auth",  "password",     "policy",  "key-pair-id"};
    const auto plain = lower(query_name);
    return std::find(std::begin(names), std::end(names), plain) != std::end(names) ||
           plain.starts_with("x-amz-") || plain.starts_with("x-goog-");
}

std::vector<TextPart> logins_without_scheme(std::string_view text)
{
    std::vector<TextPart> found;
    std::size_t done = 0;
    for (std::size_t at = text.find('@'); at != std::string_view::npos;
         at = text.find('@', at + 1)) {
        std::size_t begin = at;
        while (begin > done && !ends_address(text[begin - 1]))
            --begin;
        const auto word = text.substr(begin, at - begin);
        const auto colon = word.find(':');
        if (colon == std::string_view::npos || colon == 0 || colon + 1 == word.size() ||
            word.find("://") != std::string_view::npos)
            continue;
        std::size_t host = at + 1;
        while (host < text.size() && is_host(text[host]))
            ++host;
        // Another "@" behind it: this one is of the password.
        if (host == at + 1 || (host < text.size() && text[host] == '@')) continue;
        const bool has_port =
            host < text.size() && text[host] == ':' && begins_with_port(text.substr(host + 1));
        if (!has_port && !speaks_of_proxy(text, at)) continue;
        const auto before_user = word.substr(0, colon).find_last_of("=,;({[");
        if (before_user != std::string_view::npos) begin += before_user + 1;
        found.push_back({begin, at});
        done = at + 1;
    }
    return found;
}

}  // namespace ponk::environment
