// SPDX-License-Identifier: Apache-2.0
#include "audit/record.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

#include <fmt/format.h>

namespace ponk::audit {

namespace {

constexpr std::string_view hash_key = ",\"hash\":\"";
constexpr std::string_view closing = "\"}";
constexpr std::size_t hash_size = 64;
constexpr std::size_t tail_size = hash_key.size() + hash_size + closing.size();

void add(JsonObject& object, const char* key, const std::string& text)
{
    if (!text.empty()) object.append(key, text);
}

}  // namespace

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
    if (!record.object.empty()) members.append("object", record.object);
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
