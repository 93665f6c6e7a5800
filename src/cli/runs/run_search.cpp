// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_search.hpp"

#include "cli/runs/run_columns.hpp"
#include "query/search/filter.hpp"

#include <algorithm>

namespace ponk::cli {

namespace {

constexpr std::size_t page_size = 500;
// So many of the newest runs are looked at for names.
constexpr std::size_t known_runs = 200;

bool has_free_name(Entity entity)
{
    return entity == Entity::metric || entity == Entity::param || entity == Entity::tag;
}

// A name alone that no field has: what it is as a metric, as a parameter or as a tag.
std::optional<query::search::OrderKey> as_key(std::string_view prefix, const std::string& entry)
{
    const auto& grammar = query::search::history_runs;
    if (query::search::parse_order_by(grammar, {entry})) return std::nullopt;
    // One that is refused says why.
    const auto family = query::search::find_family(grammar, entry.substr(0, entry.find('.')));
    if (family && family->entity == Entity::best) return std::nullopt;
    const auto keys = query::search::parse_order_by(grammar, {std::string(prefix) + entry});
    if (!keys || keys->empty()) return std::nullopt;
    return keys->front();
}

constexpr std::string_view metric_prefix = "metrics.";

// As far as it is known without asking.
std::vector<std::string> order_entries(const Invocation& words)
{
    auto entries = words.values("order-by");
    for (std::string& entry : entries)
        if (as_key(metric_prefix, entry)) entry.insert(0, metric_prefix);
    return entries;
}

std::vector<std::string> order_of(const JsonObject& search)
{
    std::vector<std::string> entries;
    const Json* stored = search.find("order_by");
    if (stored == nullptr) return entries;
    for (const Json& entry : stored->as_array())
        entries.push_back(entry.as_string());
    return entries;
}

}  // namespace

Result<std::vector<std::string>> order_metrics(const JsonObject& search)
{
    std::vector<std::string> names;
    for (const auto& key :
         TRY(query::search::parse_order_by(query::search::history_runs, order_of(search)))) {
        if (query::search::is_of_metric(key.entity)) names.push_back(key.key);
    }
    return names;
}

Result<> find_order_names(Daemon& daemon, const Invocation& words, JsonObject& search)
{
    auto entries = words.values("order-by");
    const auto alone = [](const std::string& entry) {
        return as_key(metric_prefix, entry).has_value();
    };
    if (std::ranges::none_of(entries, alone)) return {};
    auto scope = search;
    scope.erase("filter");
    scope.erase("order_by");
    const JsonArray known = TRY(search_runs(daemon, std::move(scope), known_runs));
    for (std::string& entry : entries) {
        if (!alone(entry)) continue;
        std::string_view chosen = metric_prefix;
        for (const std::string_view prefix :
             {metric_prefix, std::string_view("params."), std::string_view("tags.")}) {
            const auto key = as_key(prefix, entry);
            if (!key || !missing_name(known, {key->entity, key->key}).empty()) continue;
            chosen = prefix;
            break;
        }
        entry.insert(0, chosen);
    }
    search.set("order_by", JsonArray(entries.begin(), entries.end()));
    return {};
}

tl::expected<JsonObject, Failure> search_options(const Invocation& words)
{
    const auto& grammar = query::search::history_runs;
    JsonObject search;
    const std::string filter = words.text("filter");
    TRY(as_usage(query::search::parse_filter(grammar, filter)));
    if (!filter.empty()) search.set("filter", filter);
    if (const auto experiment = words.value("experiment")) search.set("experiment", *experiment);
    if (const auto entries = order_entries(words); !entries.empty()) {
        TRY(as_usage(query::search::parse_order_by(grammar, entries)));
        search.set("order_by", JsonArray(entries.begin(), entries.end()));
    }
    return search;
}

Result<std::vector<std::string>>
unknown_names(Daemon& daemon, const Invocation& words, JsonObject scope, const JsonArray& found)
{
    const auto& grammar = query::search::history_runs;
    std::vector<FieldName> names;
    const auto filter = TRY(query::search::parse_filter(grammar, words.text("filter")));
    const auto order = TRY(query::search::parse_order_by(grammar, order_of(scope)));
    for (const auto& comparison : filter) {
        // Whoever asks for what is not there knows it.
        const bool absent = comparison.op == query::search::Operator::is_null;
        if (found.empty() && has_free_name(comparison.entity) && !absent)
            names.push_back({comparison.entity, comparison.key});
    }
    for (const auto& key : order) {
        if (query::search::is_of_metric(key.entity)) {
            names.push_back({Entity::metric, key.key});
        } else if (has_free_name(key.entity)) {
            names.push_back({key.entity, key.key});
        }
    }
    std::vector<std::string> sentences;
    if (names.empty()) return sentences;
    scope.erase("filter");
    scope.erase("order_by");
    const JsonArray known =
        found.empty() ? TRY(search_runs(daemon, std::move(scope), known_runs)) : found;
    if (known.empty()) return sentences;
    for (const FieldName& name : names) {
        auto sentence = missing_name(known, name);
        if (!sentence.empty()) sentences.push_back(std::move(sentence));
    }
    return sentences;
}

Result<> each_page(Daemon& daemon,
                   JsonObject search,
                   const std::function<Result<bool>(JsonArray runs)>& take)
{
    for (;;) {
        search.set("limit", static_cast<std::int64_t>(page_size));
        Json page = TRY(daemon.send("POST", "/runs/search", search, Daemon::Repeat::when_broken));
        if (!page["runs"].is_array()) return {};
        const bool more = TRY(take(std::move(page.as_object().find("runs")->as_array())));
        const auto next = page.text("next");
        if (next.empty() || !more) return {};
        search.set("page", next);
    }
}

Result<JsonArray> search_runs(Daemon& daemon, JsonObject search, std::size_t limit)
{
    JsonArray runs;
    for (;;) {
        const auto want = limit == 0 ? page_size : std::min(page_size, limit - runs.size());
        search.set("limit", static_cast<std::int64_t>(want));
        Json page = TRY(daemon.send("POST", "/runs/search", search, Daemon::Repeat::when_broken));
        if (page["runs"].is_array()) {
            for (Json& run : page.as_object().find("runs")->as_array())
                runs.push_back(std::move(run));
        }
        const auto next = page.text("next");
        if (next.empty() || (limit != 0 && runs.size() >= limit)) return runs;
        search.set("page", next);
    }
}

}  // namespace ponk::cli
