// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_columns.hpp"

#include "base/text.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/syntax/suggest.hpp"
#include "cli/terminal/local_time.hpp"
#include "output/cell.hpp"

#include <algorithm>
#include <optional>

namespace ponk::cli {
namespace {

struct Prefix {
    std::string_view word;
    Entity entity;
};
// As the language of searches has them.
constexpr Prefix prefixes[] = {{"metrics.", Entity::metric},
                               {"metric.", Entity::metric},
                               {"params.", Entity::param},
                               {"param.", Entity::param},
                               {"parameters.", Entity::param},
                               {"tags.", Entity::tag},
                               {"tag.", Entity::tag},
                               {"attributes.", Entity::attribute}};

struct Alias {
    std::string_view word;
    std::string_view field;
};
// What tables and searches call the fields of a record.
constexpr Alias aliases[] = {{"run", "run_id"},
                             {"id", "run_id"},
                             {"no", "run_number"},
                             {"number", "run_number"},
                             {"run_name", "name"},
                             {"exit", "exit_code"},
                             {"script", "script_name"},
                             {"user_id", "user"},
                             {"gpu", "gpu_verdict"},
                             {"created", "created_utc"},
                             {"start", "start_time_utc"},
                             {"start_time", "start_time_utc"},
                             {"end", "end_time_utc"},
                             {"end_time", "end_time_utc"},
                             {"commit", "git.commit"},
                             {"branch", "git.branch"}};

// Fields that every record has, also where no run is at hand to show them.
constexpr std::string_view fields[] = {
    "run_id",         "run_number",    "name",        "status",      "exit_code",
    "project_path",   "script_name",   "arguments",   "target",      "run_configuration",
    "framework",      "user",          "host",        "created_utc", "start_time_utc",
    "end_time_utc",   "duration",      "duration_ms", "snapshot",    "rerun_of",
    "hidden",         "gpu_verdict",   "git.commit",  "git.branch",  "git.dirty",
    "environment.id", "experiment_id", "experiment"};

std::string_view field_of(std::string_view word)
{
    const auto found = std::ranges::find(aliases, word, &Alias::word);
    return found == std::end(aliases) ? word : found->field;
}

std::string_view kind_of(Entity entity)
{
    switch (entity) {
    case Entity::metric:
        return "metric";
    case Entity::param:
        return "parameter";
    case Entity::tag:
        return "tag";
    default:
        return "field";
    }
}

bool one_has(const JsonArray& runs, const FieldName& name)
{
    if (name.entity == Entity::attribute) {
        if (std::ranges::count(fields, name.key) > 0) return true;
        const auto own = names_of(runs, Entity::attribute);
        if (std::ranges::count(own, name.key.substr(0, name.key.find('.'))) == 0) return false;
    }
    return std::ranges::any_of(runs,
                               [&](const Json& run) { return !value_of(run, name).is_null(); });
}

// The words between commas, blanks around them left out; backticks are taken off and hide commas.
std::vector<std::string> words_of(std::string_view text)
{
    std::vector<std::string> words(1);
    bool quoted = false;
    for (const char c : text) {
        if (c == '`')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            words.emplace_back();
        else
            words.back() += c;
    }
    for (std::string& word : words)
        word = std::string(trim(word));
    return words;
}

std::optional<FieldName> qualified(const std::string& word)
{
    for (const Prefix& prefix : prefixes) {
        if (!word.starts_with(prefix.word) || word.size() == prefix.word.size()) continue;
        const std::string key = word.substr(prefix.word.size());
        if (prefix.entity == Entity::attribute)
            return FieldName{Entity::attribute, std::string(field_of(key))};
        return FieldName{prefix.entity, key};
    }
    return std::nullopt;
}

std::vector<std::string> all_names(const JsonArray& runs)
{
    std::vector<std::string> names(std::begin(fields), std::end(fields));
    for (const Alias& alias : aliases)
        names.emplace_back(alias.word);
    for (const Entity entity : {Entity::metric, Entity::param, Entity::tag}) {
        const auto more = names_of(runs, entity);
        names.insert(names.end(), more.begin(), more.end());
    }
    return names;
}

tl::expected<FieldName, Failure> alone(const std::string& word, const JsonArray& runs)
{
    for (const FieldName& name : {FieldName{Entity::attribute, std::string(field_of(word))},
                                  FieldName{Entity::metric, word},
                                  FieldName{Entity::param, word},
                                  FieldName{Entity::tag, word}}) {
        if (one_has(runs, name)) return name;
    }
    // Nobody can tell what it is among no runs.
    if (runs.empty()) return FieldName{Entity::metric, word};
    return tl::unexpected(
        Failure(Error(ErrorKind::invalid_argument,
                      fmt::format("--columns: none of these runs has a field, metric, parameter or "
                                  "tag '{}'",
                                  printable(word)),
                      suggest_name(word,
                                   all_names(runs),
                                   "Use metrics.NAME, params.NAME, tags.NAME, or a field of 'ponk "
                                   "history last -o json'.")),
                exit_code::usage));
}

// As tables of runs show them.
Json shown_value(const Json& run, const FieldName& name, const Json& value)
{
    if (name.entity == Entity::attribute) {
        if (name.key == "run_id") return brief_id(run);
        if (name.key == "status") return brief_status(run);
        if (name.key == "duration_ms") return value;
        if (name.key.ends_with("_utc") && value.is_string()) return shown_time(value.as_string());
        if (name.key == "git.commit" && value.is_string()) return value.as_string().substr(0, 12);
        if (value.is_array() || value.is_object()) return words_text(value);
    }
    if (value.type() == Json::Type::real) return fmt::format("{:.6g}", value.as_double());
    return value;
}

}  // namespace

std::string missing_name(const JsonArray& runs, const FieldName& name)
{
    if (one_has(runs, name)) return {};
    auto text = fmt::format("no run has a {} '{}'", kind_of(name.entity), printable(name.key));
    if (const auto near = nearest(name.key, names_of(runs, name.entity)))
        text += fmt::format("; did you mean '{}'?", printable(*near));
    return text;
}

tl::expected<RunColumns, Failure> parse_columns(std::string_view text, const JsonArray& runs)
{
    RunColumns parsed;
    for (const std::string& word : words_of(text)) {
        if (word.empty())
            return fail_usage("--columns '{}' has an empty name between two commas",
                              printable(text));
        if (std::ranges::count(parsed.columns, word, &RunColumn::title) > 0) continue;
        RunColumn column{word, {}};
        if (const auto name = qualified(word)) {
            column.field = *name;
            if (const auto note = missing_name(runs, *name); !runs.empty() && !note.empty())
                parsed.notes.push_back(note);
        } else {
            column.field = TRY(alone(word, runs));
        }
        parsed.columns.push_back(std::move(column));
    }
    return parsed;
}

std::vector<std::string> possible_metrics(std::string_view text)
{
    std::vector<std::string> names;
    for (const std::string& word : words_of(text)) {
        const auto name = qualified(word);
        if (!name && !word.empty()) names.push_back(word);
        if (name && name->entity == Entity::metric) names.push_back(name->key);
    }
    return names;
}

std::vector<int> run_column_ranks(const output::Columns& columns)
{
    struct Rank {
        std::string_view key;
        int rank;
    };
    constexpr Rank known[] = {{"run_id", 0},
                              {"run_number", 0},
                              {"status", 0},
                              {"project_path", 1},
                              {"name", 2},  // somebody gave it to tell runs apart
                              {"exit_code", 4},
                              {"duration", 1},
                              {"gpu_verdict", 3},
                              {"script_name", 3},
                              {"start_time_utc", 6},
                              {"target", 8}};
    constexpr int metric_ranks[] = {1, 5, 7};
    constexpr int other_metrics = 7;
    std::vector<int> ranks;
    std::size_t metrics = 0;
    for (const output::Column& column : columns) {
        const auto found = std::ranges::find(known, column.key, &Rank::key);
        if (found != std::end(known)) {
            ranks.push_back(found->rank);
            continue;
        }
        ranks.push_back(metrics < std::size(metric_ranks) ? metric_ranks[metrics] : other_metrics);
        ++metrics;
    }
    return ranks;
}

View view_of_columns(const JsonArray& runs, const std::vector<RunColumn>& columns)
{
    View view;
    for (const RunColumn& column : columns) {
        const bool narrow = column.field.entity == Entity::metric || column.field.key == "run_id" ||
                            column.field.key == "status" || column.field.key == "duration";
        view.columns.push_back({.key = column.title,
                                .align = column.field.entity == Entity::metric
                                             ? output::Align::right
                                             : output::Align::by_value,
                                .min = narrow ? output::whole : 10});
    }
    JsonArray rows;
    JsonArray exact;
    for (const Json& run : runs) {
        JsonObject row;
        JsonObject whole;
        for (const RunColumn& column : columns) {
            Json value = value_of(run, column.field);
            row.set(column.title, shown_value(run, column.field, value));
            whole.set(column.title, std::move(value));
        }
        rows.push_back(std::move(row));
        exact.push_back(std::move(whole));
    }
    view.rows = std::move(rows);
    view.exact = std::move(exact);
    return view;
}

}  // namespace ponk::cli
