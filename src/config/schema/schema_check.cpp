// SPDX-License-Identifier: Apache-2.0
// Holding a document against its schema: unknown keys, wrong types, what to write instead.
#include "base/text.hpp"
#include "config/schema/key_hints.hpp"
#include "config/schema/schema.hpp"

#include <algorithm>

namespace ponk::config {

namespace {

const char* expectation(ValueKind kind)
{
    switch (kind) {
    case ValueKind::text:
        return "text";
    case ValueKind::boolean:
        return "true or false";
    case ValueKind::integer:
        return "a whole number";
    case ValueKind::number:
        return "a number";
    case ValueKind::duration:
        return "a time such as 90s, 10m or 2h";
    case ValueKind::text_or_list:
        return "text or a list of texts";
    case ValueKind::text_list:
        return "a list of texts";
    case ValueKind::text_map:
        return "a map of names and values";
    case ValueKind::section:
        return "a map";
    case ValueKind::section_list:
        return "a list of maps";
    case ValueKind::text_tree:
    case ValueKind::free:
        break;
    }
    return "anything";
}

bool is_number(const Node& node)
{
    return node.is_scalar() && !node.is_quoted() && plain_json(node).is_number();
}

// "true" for "yes" where a boolean is wanted: what the author of the value meant, if that is plain.
std::optional<std::string> meant_scalar(const Key& key, const Node& value)
{
    if (!value.is_scalar()) return std::nullopt;
    Node bare = value;
    bare.text = std::string(trim(value.text));
    bare.style = Node::Style::plain;
    switch (key.kind) {
    case ValueKind::boolean:
        if (const auto boolean = boolean_of(bare)) return *boolean ? "true" : "false";
        if (bare.text == "1" || bare.text == "0") return bare.text == "1" ? "true" : "false";
        return std::nullopt;
    case ValueKind::integer:
        if (parse_integer(bare.text)) return bare.text;
        return std::nullopt;
    case ValueKind::number:
        if (plain_json(bare).is_number()) return bare.text;
        return std::nullopt;
    default:
        return std::nullopt;
    }
}

std::string replacement(const Key& key, const Node& value)
{
    if (const auto meant = meant_scalar(key, value)) {
        return fmt::format(
            "Write {}{}.", printable(*meant), value.is_quoted() ? ", without quotes" : "");
    }
    if (key.kind == ValueKind::boolean) return "Write true or false.";
    if (key.kind == ValueKind::text_list && value.is_scalar()) {
        std::vector<std::string> words;
        for (const auto& word : split(trim(value.text), ' ')) {
            if (!word.empty()) words.push_back(printable(word));
        }
        return fmt::format("Write it as a list: [{}].", join(words, ", "));
    }
    return {};
}

// What to write in place of a placeholder.
std::string_view real_value(const Key& key)
{
    if (key.name == "address") return "the machine's name or address";
    if (key.name == "username") return "your user name on that machine";
    if (key.name == "password") return "secret:NAME (see 'ponk secret set NAME')";
    return "the real value";
}

bool all_scalars(const Node& list)
{
    return list.is_list() && std::all_of(list.items.begin(),
                                         list.items.end(),
                                         [](const Node& item) { return item.is_scalar(); });
}

// Nothing, or what holds anyway.
bool is_harmless(const Key& key, const Node& value)
{
    if (value.is_map()) return value.members.empty();
    if (value.is_list() && value.items.size() > 1) return false;
    if (value.is_list() && value.items.empty()) return true;
    const Node& one = value.is_list() ? value.items.front() : value;
    const auto text = trim(one.text);
    return one.is_scalar() && (text.empty() || same_ignoring_case(text, key.harmless));
}

class SchemaCheck {
public:
    explicit SchemaCheck(Report& report) : report_(report) {}

    void check_map(const Schema& schema, const Node& map)
    {
        for (const auto& member : map.members) {
            if (const Key* key = schema.find(member.key)) {
                if (member.value.is_null()) continue;
                check_value(*key, member);
                check_effect(*key, member.value);
            } else {
                report_unknown_key(schema, map, member, report_);
            }
        }
    }

    void check_key(const Key& key, const Node& map)
    {
        for (const auto& member : map.members)
            if (member.key == key.name && !member.value.is_null()) check_value(key, member);
    }

private:
    void check_value(const Key& key, const Member& member)
    {
        const Node& value = member.value;
        switch (key.kind) {
        case ValueKind::text:
            return check_text(key, value);
        case ValueKind::boolean:
            return check_boolean(key, value);
        case ValueKind::integer:
            if (!is_number(value) || !plain_json(value).is_integer()) wrong_type(key, value);
            return;
        case ValueKind::number:
            if (!is_number(value)) wrong_type(key, value);
            return;
        case ValueKind::duration:
            if (!value.is_scalar() || !seconds_of(value.text)) wrong_type(key, value);
            return;
        case ValueKind::text_or_list:
            if (!value.is_scalar() && !all_scalars(value)) wrong_type(key, value);
            return;
        case ValueKind::text_list:
            return check_list(key, value);
        case ValueKind::text_map:
            return check_text_map(key, value);
        case ValueKind::section:
            if (!value.is_map()) return wrong_type(key, value);
            if (key.section != nullptr) check_map(*key.section, value);
            return;
        case ValueKind::section_list:
            return check_sections(key, value);
        case ValueKind::text_tree:
        case ValueKind::free:
            return;
        }
    }

    void check_effect(const Key& key, const Node& value)
    {
        if (key.no_effect.empty() || is_harmless(key, value)) return;
        report_.notice(value.place,
                       "unused-key",
                       fmt::format("'{}' has no effect: {}", key.name, key.no_effect));
    }

    void wrong_type(const Key& key, const Node& value, std::string hint = {})
    {
        if (hint.empty()) hint = replacement(key, value);
        report_.error(value.place,
                      "wrong-type",
                      fmt::format("'{}' needs {}, not {}{}",
                                  key.name,
                                  expectation(key.kind),
                                  type_name(value),
                                  value.is_quoted() && value.is_scalar() ? " in quotes" : ""),
                      std::move(hint));
    }

    void check_text(const Key& key, const Node& value)
    {
        // "[username]" in a document means "your user name here"; to YAML it is a list.
        if (value.is_list() && value.items.size() == 1 && value.items[0].is_scalar()) {
            const auto inside = printable(value.items[0].text);
            report_.error(value.place,
                          "placeholder",
                          fmt::format("'{}' needs text; '[{}]' is a list", key.name, inside),
                          fmt::format("Write {} in place of '[{}]', without brackets.",
                                      real_value(key),
                                      inside));
            return;
        }
        if (!value.is_scalar()) return wrong_type(key, value);
        const bool access =
            key.name == "address" || key.name == "username" || key.name == "password";
        if (access ? is_access_placeholder(value.text) : is_placeholder(value.text)) {
            report_.warning(value.place,
                            "placeholder",
                            fmt::format("'{}' still contains the placeholder '{}'",
                                        key.name,
                                        printable(value.text)),
                            fmt::format("Write {} in its place.", real_value(key)));
        } else {
            check_blanks(key, value);
        }
        if (!key.words.empty()) check_word(key, value);
    }

    // Only quotes keep them; they come from forms and never mean anything.
    void check_blanks(const Key& key, const Node& value)
    {
        const std::string_view bare = trim(value.text);
        if (bare.size() == value.text.size() || bare.empty() || key.name == "password") return;
        const bool before = value.text.front() != bare.front();
        const bool after = value.text.back() != bare.back();
        report_.warning(value.place,
                        "trailing-blank",
                        fmt::format("'{}' is '{}', with spaces {}",
                                    key.name,
                                    printable(value.text),
                                    before && after ? "around it"
                                    : before        ? "before it"
                                                    : "at its end"),
                        fmt::format("ponk reads it as '{0}'; write '{0}'.", printable(bare)));
    }

    void check_word(const Key& key, const Node& value)
    {
        const std::string_view text = trim(value.text);
        std::vector<std::string> words(key.words.begin(), key.words.end());
        for (const auto& word : words) {
            if (word == text) return;
            if (!same_ignoring_case(word, text)) continue;
            report_.warning(
                value.place,
                "wrong-case",
                fmt::format("'{}' must be written '{}', not '{}'", key.name, word, printable(text)),
                fmt::format("ponk reads it as '{0}'; write '{0}'.", word));
            return;
        }
        const auto near = nearest(text, words);
        report_.error(value.place,
                      "wrong-value",
                      fmt::format("'{}' cannot be '{}'", key.name, printable(text)),
                      near ? fmt::format("Did you mean '{}'?", *near)
                           : fmt::format("Allowed: {}.", join(words, ", ")));
    }

    void check_boolean(const Key& key, const Node& value)
    {
        const auto boolean = boolean_of(value);
        if (!boolean) return wrong_type(key, value);
        const auto word = lower(value.text);
        if (word == "true" || word == "false") return;
        report_.warning(
            value.place,
            "yaml-1.1-boolean",
            fmt::format("'{}' is '{}', which is text in YAML 1.2", key.name, printable(value.text)),
            fmt::format("ponk reads it as {0}, as the original service did; write {0}.",
                        *boolean ? "true" : "false"));
    }

    void check_list(const Key& key, const Node& value)
    {
        if (!value.is_list()) return wrong_type(key, value);
        for (const auto& item : value.items) {
            if (item.is_scalar()) continue;
            report_.error(
                item.place,
                "wrong-type",
                fmt::format("an item of '{}' needs to be text, not {}", key.name, type_name(item)));
        }
    }

    void check_text_map(const Key& key, const Node& value)
    {
        if (!value.is_map()) return wrong_type(key, value);
        for (const auto& member : value.members) {
            if (member.value.is_scalar()) continue;
            report_.error(member.value.place,
                          "wrong-type",
                          fmt::format("'{}' in '{}' needs text, not {}",
                                      printable(member.key),
                                      key.name,
                                      type_name(member.value)));
        }
    }

    void check_sections(const Key& key, const Node& value)
    {
        if (!value.is_list()) return wrong_type(key, value);
        for (const auto& item : value.items) {
            if (!item.is_map()) {
                report_.error(item.place,
                              "wrong-type",
                              fmt::format("an item of '{}' needs to be a map, not {}",
                                          key.name,
                                          type_name(item)));
            } else if (key.section != nullptr) {
                check_map(*key.section, item);
            }
        }
    }

    Report& report_;
};

}  // namespace

void check_against(const Schema& schema, const Node& map, Report& report)
{
    if (!map.is_map()) {
        report.error(map.place,
                     "wrong-type",
                     // Text is not quoted: it may be anything, say a link's to a file of passwords.
                     fmt::format("{} is a map of keys and values, not {}",
                                 schema.what,
                                 map.is_scalar() ? "one piece of text" : type_name(map)),
                     "Each line has the form 'key: value'.");
        return;
    }
    SchemaCheck(report).check_map(schema, map);
}

void check_value(const Key& key, const Node& map, Report& report)
{
    SchemaCheck(report).check_key(key, map);
}

}  // namespace ponk::config
