// SPDX-License-Identifier: Apache-2.0
#include "environment/address/address_parts.hpp"

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

bool ends_with_proxy(std::string_view text)
{
    constexpr std::string_view word = "proxy";
    if (text.size() < word.size() || (text.back() != 'y' && text.back() != 'Y')) return false;
    return lower(text.substr(text.size() - word.size())) == word;
}

// What a login may belong to: told byte by byte, so that no text is looked at twice.
struct Surroundings {
    std::size_t word = 0;  // where it begins
    bool speaks_of_proxy = false;

    void take(std::string_view text, std::size_t at)
    {
        if (ends_address(text[at])) word = at + 1;
        if (text[at] == '\n' || text[at] == '\r')
            speaks_of_proxy = false;
        else if (!speaks_of_proxy)
            speaks_of_proxy = ends_with_proxy(text.substr(0, at + 1));
    }
};

}  // namespace

bool ends_address(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return std::isspace(byte) != 0 || std::iscntrl(byte) != 0 || c == '"' || c == '\'' ||
           c == '<' || c == '>' || c == '`';
}

Address AddressReader::at(std::size_t colon)
{
    Address address;
    const std::size_t start = colon + 3;
    end_ = std::max(end_, start);
    while (end_ < text_.size() && !ends_address(text_[end_]))
        ++end_;
    address.end = end_;
    const auto rest = text_.substr(start, end_ - start);
    // Two addresses share no such part: the second begins with a slash.
    const std::size_t authority = std::min(rest.find_first_of("/?#"), rest.size());
    const std::size_t at = rest.substr(0, authority).rfind('@');
    if (at != std::string_view::npos) {
        const auto user = rest.substr(0, at);
        if (!is_ssh(text_, colon) || user.find(':') != std::string_view::npos)
            address.user = {start, start + at};
    }
    const std::size_t fragment = std::min(fragment_.from(start), end_);
    const std::size_t question = std::min(question_.from(start), fragment);
    if (question < fragment) address.query = {question + 1, fragment};
    const std::size_t token = token_.from(start + authority);
    if (token != std::string_view::npos && token + 3 <= question) {
        const std::size_t begin = token + 3;
        address.token = {begin, std::min(slash_.from(begin), question)};
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
    // None is nearly that long.
    const auto plain = lower(query_name.substr(0, 64));
    return std::find(std::begin(names), std::end(names), plain) != std::end(names) ||
           plain.starts_with("x-amz-") || plain.starts_with("x-goog-");
}

std::vector<TextPart> logins_without_scheme(std::string_view text)
{
    std::vector<TextPart> found;
    NextOf next_colon(text, ":");
    NextOf next_scheme(text, "://");
    Surroundings around;
    std::size_t looked = 0;
    for (std::size_t at = text.find('@'); at != std::string_view::npos;
         at = text.find('@', at + 1)) {
        for (; looked < at; ++looked)
            around.take(text, looked);
        auto begin = around.word;
        const auto colon = next_colon.from(begin);
        if (colon >= at || colon == begin || colon + 1 == at || next_scheme.from(begin) < at)
            continue;
        std::size_t host = at + 1;
        while (host < text.size() && is_host(text[host]))
            ++host;
        // Another "@" behind it: this one is of the password.
        if (host == at + 1 || (host < text.size() && text[host] == '@')) continue;
        const bool has_port =
            host < text.size() && text[host] == ':' && begins_with_port(text.substr(host + 1));
        if (!has_port && !around.speaks_of_proxy) continue;
        const auto before_user = text.substr(begin, colon - begin).find_last_of("=,;({[");
        if (before_user != std::string_view::npos) begin += before_user + 1;
        found.push_back({begin, at});
        around.word = at + 1;
    }
    return found;
}

}  // namespace ponk::environment
