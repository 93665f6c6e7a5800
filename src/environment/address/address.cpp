// SPDX-License-Identifier: Apache-2.0
#include "environment/address/address.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "environment/address/address_parts.hpp"

#include <algorithm>
#include <optional>

namespace ponk::environment {

namespace {

constexpr std::string_view hidden = "***";
constexpr std::size_t shortest_secret = 4;

// What of a query selects the file; empty when nothing does.
std::string selection(std::string_view query)
{
    std::vector<std::string> kept;
    for (const auto& word : split(query, '&')) {
        if (!word.empty() && !is_credential(std::string_view(word).substr(0, word.find('='))))
            kept.push_back(word);
    }
    return join(kept, "&");
}

template <class Write>
std::string rewritten(std::string_view text, const Write& query_text)
{
    std::string out;
    AddressReader addresses(text);
    std::size_t done = 0;
    for (std::size_t colon = text.find("://"); colon != std::string_view::npos;
         colon = text.find("://", done)) {
        const auto address = addresses.at(colon);
        const auto replace = [&](const TextPart& part, const std::string& with) {
            if (part.empty()) return;
            out.append(text.substr(done, part.begin - done)).append(with);
            done = part.end;
        };
        replace(address.user, std::string(hidden));
        replace(address.token, std::string(hidden));
        replace(address.query, query_text(address.query.of(text)));
        out.append(text.substr(done, address.end - done));
        done = address.end;
    }
    return out.append(text.substr(done));
}

}  // namespace

std::string without_secrets(std::string_view text)
{
    return rewritten(text, [](std::string_view) { return std::string(hidden); });
}

std::string address_identity(std::string_view text)
{
    return rewritten(text, [](std::string_view query) {
        const auto selected = selection(query);
        std::string shown(hidden);
        return selected.empty() ? shown : shown + ":" + sha256(selected).text().substr(0, 16);
    });
}

std::vector<std::string> secrets_in(std::string_view text)
{
    std::vector<std::string> found;
    const auto keep = [&found](std::string_view value) {
        if (value.size() >= shortest_secret) found.emplace_back(value);
    };
    AddressReader addresses(text);
    std::size_t done = 0;
    for (std::size_t colon = text.find("://"); colon != std::string_view::npos;
         colon = text.find("://", done)) {
        const auto address = addresses.at(colon);
        const auto user = address.user.of(text);
        keep(user);
        if (const auto separator = user.find(':'); separator != std::string_view::npos)
            keep(user.substr(separator + 1));
        keep(address.token.of(text));
        keep(address.query.of(text));
        for (const auto& word : split(address.query.of(text), '&')) {
            const auto equals = word.find('=');
            if (equals != std::string::npos && word.size() - equals > 16)
                keep(std::string_view(word).substr(equals + 1));
        }
        done = address.end;
    }
    return found;
}

namespace {

std::string percent_decoded(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digits = text.substr(i, 3);
        const auto byte = digits.size() == 3 && digits[0] == '%' ? from_hex(digits.substr(1))
                                                                 : std::optional<std::string>();
        out += byte.value_or(std::string(1, text[i]));
        if (byte) i += 2;
    }
    return out;
}

}  // namespace

std::vector<std::string> credentials_in(std::string_view text)
{
    constexpr std::size_t shortest_credential = 6;
    std::vector<std::string> found;
    const auto keep = [&found](std::string_view value) {
        // What stands behind an address in a text is none of it.
        while (!value.empty() &&
               std::string_view(",;.)]}\\").find(value.back()) != std::string_view::npos)
            value.remove_suffix(1);
        if (value.size() < shortest_credential) return;
        found.emplace_back(value);
        if (auto decoded = percent_decoded(value); decoded != value)
            found.push_back(std::move(decoded));
    };
    AddressReader addresses(text);
    std::size_t done = 0;
    for (std::size_t colon = text.find("://"); colon != std::string_view::npos;
         colon = text.find("://", done)) {
        const auto address = addresses.at(colon);
        const auto user = address.user.of(text);
        const auto separator = user.find(':');
        keep(separator == std::string_view::npos ? user : user.substr(separator + 1));
        keep(address.token.of(text));
        for (const auto& word : split(address.query.of(text), '&')) {
            const auto equals = word.find('=');
            if (equals != std::string::npos && is_credential(word.substr(0, equals)))
                keep(std::string_view(word).substr(equals + 1));
        }
        done = address.end;
    }
    for (const auto& part : logins_without_scheme(text)) {
        const auto login = part.of(text);
        keep(login.substr(login.find(':') + 1));
    }
    return found;
}

void Redactor::add_secrets_of(std::string_view text)
{
    for (auto& value : secrets_in(text))
        values_.push_back(std::move(value));
    // The longest first: a part of one that is hidden already is not looked for.
    std::stable_sort(values_.begin(), values_.end(), [](const auto& left, const auto& right) {
        return left.size() > right.size();
    });
}

std::string Redactor::clean(std::string_view line) const
{
    auto text = without_secrets(line);
    for (const auto& value : values_) {
        for (auto at = text.find(value); at != std::string::npos;
             at = text.find(value, at + hidden.size()))
            text.replace(at, value.size(), hidden);
    }
    return text;
}

}  // namespace ponk::environment
