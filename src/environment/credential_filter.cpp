// SPDX-License-Identifier: Apache-2.0
#include "environment/credential_filter.hpp"

#include "environment/address_parts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ponk::environment {

namespace {

constexpr std::size_t long_line = std::size_t{64} << 10;
// No address is that long; a file without any blank is not held in memory for one.
constexpr std::size_t longest_word = std::size_t{1} << 20;

void add_query_parts(std::string_view text, const TextPart& query, std::vector<TextPart>& found)
{
    for (std::size_t begin = query.begin; begin < query.end;) {
        const auto end = std::min(text.find('&', begin), query.end);
        const auto word = text.substr(begin, end - begin);
        const auto equals = word.find('=');
        if (equals != std::string_view::npos && is_credential(word.substr(0, equals)))
            found.push_back({begin + equals + 1, end});
        begin = end + 1;
    }
}

std::vector<TextPart> credential_parts(std::string_view text)
{
    auto found = logins_without_scheme(text);
    // Every "://" by itself: a list of addresses may hold no blank, and a query another address.
    for (std::size_t colon = text.find("://"); colon != std::string_view::npos;
         colon = text.find("://", colon + 3)) {
        const auto address = address_at(text, colon);
        found.push_back(address.user);
        found.push_back(address.token);
        add_query_parts(text, address.query, found);
    }
    std::erase_if(found, [](const TextPart& part) { return part.empty(); });
    std::sort(found.begin(), found.end(), [](const TextPart& left, const TextPart& right) {
        return left.begin < right.begin;
    });
    return found;
}

// Up to where `text` may be given out: behind its last line, in a very long one behind a word.
std::size_t whole_part(std::string_view text)
{
    const auto newline = text.rfind('\n');
    const std::size_t lines = newline == std::string_view::npos ? 0 : newline + 1;
    if (text.size() - lines < long_line) return lines;
    for (std::size_t end = text.size(); end > lines; --end) {
        if (ends_address(text[end - 1])) return end;
    }
    return text.size() - lines < longest_word ? lines : text.size();
}

}  // namespace

std::string without_credentials(std::string_view text)
{
    std::string out;
    std::size_t done = 0;
    for (const auto& part : credential_parts(text)) {
        if (part.end <= done) continue;
        if (part.begin >= done) out.append(text.substr(done, part.begin - done)).append("***");
        done = part.end;
    }
    return out.append(text.substr(done));
}

std::string CredentialFilter::feed(std::string_view bytes)
{
    held_ += bytes;
    const auto end = whole_part(held_);
    if (end == 0) return {};
    auto out = without_credentials(std::string_view(held_).substr(0, end));
    held_.erase(0, end);
    return out;
}

std::string CredentialFilter::finish()
{
    return without_credentials(std::exchange(held_, {}));
}

}  // namespace ponk::environment
