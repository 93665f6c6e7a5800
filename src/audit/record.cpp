// SPDX-License-Identifier: Apache-2.0
#include "audit/record.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::audit {

namespace {

constexpr std::string_view hash_key = ",\"hash\":\"";
constexpr std::string_view closing = "\"}";
constexpr std::size_t hash_size = 64;
constexpr std::size_t tail_size = hash_key.size() + hash_size + closing.size();

void add(JsonObject& object, const char* key, const std::string& text)
{
    if (!text.empty()) object.append(key, bounded(text));
}

// What stands between `"key":"` and the next quote.
std::string_view find_text(std::string_view line, std::string_view key)
{
    const auto at = line.find(key);
    if (at == std::string_view::npos) return {};
    const auto value = line.substr(at + key.size());
    return value.substr(0, value.find('"'));
}

}  // namespace

std::string bounded(std::string_view text)
{
    constexpr std::size_t longest = 200;
    const auto written = [&](std::size_t size) {
        return to_json(Json(std::string(text.substr(0, size)))).size() - 2;  // without quotes
    };
    if (text.size() <= longest && written(text.size()) <= longest) return std::string(text);
    std::size_t fits = 0;
    std::size_t beyond = std::min(text.size(), longest) + 1;
    while (beyond - fits > 1) {
        const auto middle = (fits + beyond) / 2;
        (written(middle) <= longest ? fits : beyond) = middle;
    }
    // Not within a character.
    const auto is_inner = [&](std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    };
    for (int i = 0; i < 3 && fits > 0 && is_inner(fits); ++i)
        --fits;
    return std::string(text.substr(0, fits));
}

std::string line_of(const Record& record, Head& head)
{
    JsonObject members;
    members.append("n", ++head.number);
    members.append("prev", head.hash);
    members.append("time", utc_text(record.time));
    members.append("kind", record.kind);
    add(members, "who", record.who);
    add(members, "role", record.role);
    add(members, "listener", record.listener);
    add(members, "peer", record.peer);
    add(members, "method", record.method);
    add(members, "route", record.route);
    if (!record.object.empty()) {
        JsonObject object;
        for (const auto& [name, value] : record.object)
            object.append(name, value.is_string() ? Json(bounded(value.as_string())) : value);
        members.append("object", std::move(object));
    }
    if (record.status != 0) members.append("status", record.status);
    add(members, "outcome", record.outcome);
    if (record.count != 0) members.append("count", record.count);
    add(members, "text", record.text);
    auto line = to_json(members);
    line.pop_back();  // the brace
    head.hash = sha256(line).text();
    line += hash_key;
    line += head.hash;
    line += closing;
    line += '\n';
    return line;
}

Skimmed skim_line(std::string_view line)
{
    // Before them are members without free text.
    return {parse_utc(find_text(line, "\"time\":\"")).value_or(0), find_text(line, "\"who\":\"")};
}

Result<Line> parse_line(std::string_view text)
{
    const auto broken = [](const char* what) { return fail(ErrorKind::damaged, "{}", what); };
    if (text.size() <= tail_size) return broken("this is not a record");
    const auto tail = text.substr(text.size() - tail_size);
    if (!tail.starts_with(hash_key) || !tail.ends_with(closing))
        return broken("the record does not end with its hash");
    Line line;
    line.hash = tail.substr(hash_key.size(), hash_size);
    if (sha256(text.substr(0, text.size() - tail_size)).text() != line.hash)
        return broken("the record was changed: it does not have its hash any more");
    line.members = TRY(parse_json(text));
    line.number = line.members.integer("n");
    line.previous = line.members.text("prev");
    if (line.number < 1 || line.previous.size() != hash_size)
        return broken("the record has no place in the chain");
    return line;
}

std::string head_text(const Head& head)
{
    return fmt::format("{} {}\n", head.number, head.hash);
}

Result<Head> parse_head(std::string_view text)
{
    const auto words = split(trim(text), ' ');
    Digest digest;
    const auto number = words.size() == 2 ? parse_integer(words[0]) : std::nullopt;
    if (!number || *number < 0 || !parse_digest(words[1], digest))
        return fail(ErrorKind::damaged, "it does not hold a number and a hash");
    return Head{*number, words[1]};
}

}  // namespace ponk::audit
