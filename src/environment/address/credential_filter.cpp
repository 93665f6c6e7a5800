// SPDX-License-Identifier: Apache-2.0
#include "environment/address/credential_filter.hpp"

#include "environment/address/address_parts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ponk::environment {

namespace {

// No address is that long; a file without any blank is not held in memory for one.
constexpr std::size_t long_line = std::size_t{64} << 10;

// The credentials among the words of queries. A query may hold an address with a query of its own:
// both end at the same place, and have all words but the first in common.
class QueryWords {
public:
    explicit QueryWords(std::string_view text) : text_(text) {}

    void add(const TextPart& query, std::vector<TextPart>& found)
    {
        if (query.empty()) return;
        auto begin = std::max(seen_, add_word(query.begin, query.end, first_, found));
        while (begin < query.end)
            begin = add_word(begin, query.end, others_, found);
        seen_ = query.end;
    }

private:
    struct Signs {
        NextOf separator;
        NextOf equals;
    };
    // Returns where the next word begins.
    std::size_t
    add_word(std::size_t begin, std::size_t most, Signs& signs, std::vector<TextPart>& found) const
    {
        const auto end = std::min(signs.separator.from(begin), most);
        const auto equals = signs.equals.from(begin);
        if (equals < end && is_credential(text_.substr(begin, equals - begin)))
            found.push_back({equals + 1, end});
        return end + 1;
    }

    std::string_view text_;
    std::size_t seen_ = 0;
    Signs first_{{text_, "&"}, {text_, "="}};
    Signs others_ = first_;
};

std::vector<TextPart> credential_parts(std::string_view text)
{
    auto found = logins_without_scheme(text);
    AddressReader addresses(text);
    QueryWords queries(text);
    // Every "://" by itself: a list of addresses may hold no blank, and a query another address.
    for (std::size_t colon = text.find("://"); colon != std::string_view::npos;
         colon = text.find("://", colon + 3)) {
        const auto address = addresses.at(colon);
        found.push_back(address.user);
        found.push_back(address.token);
        queries.add(address.query, found);
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
    return text.size();
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
