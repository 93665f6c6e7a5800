// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "config/text/place.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What a file may contain, as tables: one row per key. Checking, reading and dumping all go by the
// same rows, so they cannot disagree.
namespace ponk::config {

enum class ValueKind {
    text,
    boolean,
    integer,
    number,
    duration,      // 600, "90s", "10m", "2h", "1d"
    text_or_list,  // "all", 2, or [GPU-…, GPU-…]
    text_list,
    text_map,  // any name → text: environment variables, Spark properties
    section,
    section_list,
    text_tree,  // lists and maps of any shape with texts in them, read by hand
    free        // anything: kept and shown, not understood
};

struct Schema;

struct Key {
    std::string_view name;
    ValueKind kind = ValueKind::text;
    const Schema* section = nullptr;               // of section and section_list
    std::span<const std::string_view> words = {};  // the only texts allowed, if any are listed
    // Why the key is read and has no effect; empty: it has one. Whoever writes it gets a notice,
    // unless it says what holds anyway (also as the only item of a list).
    std::string_view no_effect = {};
    std::string_view harmless = {};
};

struct Schema {
    std::string_view what;  // "a compute target"; for messages
    std::span<const Key> keys;

    [[nodiscard]] const Key* find(std::string_view name) const;
};

// Reports every key that the schema does not know or that has no effect, and every value of a wrong
// type, at all depths.
// Nothing (null or an empty value) is right for every key: it means the default.
void check_against(const Schema& schema, const Node& map, Report& report);

// The same for one key that needs another type than its schema says; absent is right.
void check_value(const Key& key, const Node& map, Report& report);

// The document's own tree: keys as written, scalars typed by the schema where it says so and by
// YAML where it does not.
Json values_by(const Schema& schema, const Node& map);

std::optional<bool> boolean_of(const Node& node);
std::optional<std::int64_t> seconds_of(std::string_view text);

// Reads single keys of a map that check_against has seen. What is absent, empty or wrong gives the
// default, without a place.
class SectionReader {
public:
    explicit SectionReader(const Node* map) : map_(map) {}

    // The value of `key` unless it is absent or empty.
    [[nodiscard]] const Node* find(std::string_view key) const;
    [[nodiscard]] SectionReader section(std::string_view key) const;

    void read(std::string_view key, Located<std::string>& out) const;
    void read(std::string_view key, Located<bool>& out) const;
    void read(std::string_view key, Located<std::int64_t>& out) const;
    void read_seconds(std::string_view key, Located<std::int64_t>& out) const;
    void read(std::string_view key, std::vector<Located<std::string>>& out) const;

private:
    const Node* map_;
};

// Looks like something that the reader of a document should have replaced: "<YOUR IP>".
bool is_placeholder(std::string_view text);
// For the keys that say how to reach a machine: "IP_ADDRESS" and "USER" are not values either.
bool is_access_placeholder(std::string_view text);

}  // namespace ponk::config
