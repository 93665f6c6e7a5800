// SPDX-License-Identifier: Apache-2.0
#include "importer/table_source.hpp"

#include "base/hash.hpp"
#include "base/take.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "importer/mlflow_words.hpp"
#include "importer/table_reader.hpp"
#include "model/logged_limits.hpp"
#include "model/run_state.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace ponk::importer {

namespace {

constexpr std::size_t most_named = 30;  // columns, in a message
constexpr std::size_t most_of_a_title = 60;
// Characters of a name, as the tracking API takes them, and of a text, as a script's logging does.
constexpr std::size_t longest_key = model::limits::key;
constexpr std::size_t longest_text = model::limits::logged_text;
constexpr std::size_t longest_experiment = model::limits::experiment_name;
constexpr std::string_view param = "params.";
constexpr std::string_view tag = "tags.";
constexpr std::string_view metric = "metrics.";
constexpr std::string_view kinds[] = {param, tag, metric};
// Columns that say what a run is. The others of a record tell of the machine that it ran on, which
// it does not have here.
constexpr std::string_view own[] = {"run_id",
                                    "name",
                                    "status",
                                    "user",
                                    "experiment",
                                    "created_utc",
                                    "start_time_utc",
                                    "end_time_utc"};

constexpr std::string_view values_missing =
    ": values are read from columns 'metrics.NAME', 'params.NAME' and 'tags.NAME'";

bool is_value(std::string_view column)
{
    return std::any_of(std::begin(kinds), std::end(kinds), [&](std::string_view kind) {
        return column.starts_with(kind) && column.size() > kind.size() &&
               utf8_length(column) <= kind.size() + longest_key;
    });
}

// "Start Time UTC" is a heading for people.
std::string known_name(const std::string& column)
{
    auto name = lower(trim(column));
    std::replace(name.begin(), name.end(), ' ', '_');
    return std::find(std::begin(own), std::end(own), name) != std::end(own) ? name : column;
}

bool is_own(std::string_view column)
{
    return is_value(column) || std::find(std::begin(own), std::end(own), column) != std::end(own);
}

// Exports put an apostrophe before what a spreadsheet would take for a formula.
std::string plain(const std::string& cell)
{
    constexpr std::string_view begins_formula = "=+-@\t\r";
    const auto first = cell.find_first_not_of('\'');
    const bool guarded = first != std::string::npos && first > 0 &&
                         begins_formula.find(cell[first]) != std::string_view::npos;
    return guarded ? cell.substr(1) : cell;
}

// Where cells stand between semicolons a comma is what others write as a point.
std::optional<double> number_of(const std::string& text, char separator)
{
    std::string cell(trim(text));
    if (separator == ';' && std::count(cell.begin(), cell.end(), ',') == 1)
        std::replace(cell.begin(), cell.end(), ',', '.');
    if (const auto number = parse_real(cell)) return number;
    const auto word = lower(cell);
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "infinity" || word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-infinity" || word == "-inf") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

// A text that no client could have logged is a cell that was meant for something else.
Result<> check_length(std::string_view what, std::string_view text, std::size_t most)
{
    if (utf8_length(text) <= most) return {};
    return fail(ErrorKind::invalid_argument,
                "{} '{}…' has {} characters, at most {} are kept",
                what,
                printable(text.substr(0, 40)),
                utf8_length(text),
                most);
}

bool is_blank(const std::string& cell)
{
    return trim(cell).empty();
}

class TableSource final : public Source {
public:
    TableSource(TableReader reader, std::string name)
        : reader_(std::move(reader)), name_(std::move(name))
    {
        std::vector<std::string> others;
        std::size_t more = 0;
        bool has_values = false;
        for (const auto& title : reader_.heading()) {
            columns_.push_back(known_name(title));
            has_values = has_values || is_value(columns_.back());
            if (is_own(columns_.back())) continue;
            if (others.size() < most_named) {
                others.push_back("'" + first_characters(printable(title), most_of_a_title) + "'");
            } else {
                ++more;
            }
        }
        if (others.empty()) return;
        ready_.push_back({reader_.where(),
                          LeftOut{LeftOut::Severity::note,
                                  fmt::format("the column{} {}{}{}",
                                              others.size() == 1 ? "" : "s",
                                              join(others, ", "),
                                              more == 0 ? "" : fmt::format(" and {} more", more),
                                              has_values ? "" : values_missing)}});
    }

    Result<std::optional<Item>> next() override
    {
        while (ready_.empty()) {
            const auto row = TRY(reader_.next());
            if (!row) return end();
            // A spreadsheet writes lines below its last one, too.
            if (*row && std::all_of((*row)->begin(), (*row)->end(), is_blank)) continue;
            auto item = *row ? read_run(**row) : Result<RunItem>(tl::unexpected(row->error()));
            if (item) {
                ready_.push_back({reader_.where(), std::move(*item)});
            } else {
                ready_.push_back(
                    {reader_.where(), LeftOut{LeftOut::Severity::problem, item.error().message()}});
            }
        }
        return std::optional(take_front(ready_));
    }

    [[nodiscard]] double fraction() const override { return reader_.fraction(); }

private:
    Result<RunItem> read_run(const Cells& cells)
    {
        TrackedFields fields;
        std::string experiment = name_;
        std::optional<model::RunState> state;
        std::int64_t created = 0;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto& column = columns_[i];
            const auto cell = plain(cells[i]);
            if (cell.empty() || !is_own(column)) continue;
            TRY(check_length("the value of " + column.substr(0, 40),
                             cell,
                             column == "experiment" ? longest_experiment : longest_text));
            if (column.starts_with(param)) {
                fields.params.emplace_back(column.substr(param.size()), cell);
            } else if (column.starts_with(tag)) {
                fields.tags.emplace_back(column.substr(tag.size()), cell);
            } else if (column == "run_id") {
                fields.id = cell;
            } else if (column == "name") {
                fields.name = cell;
            } else if (column == "user") {
                fields.user = cell;
            } else if (column == "experiment") {
                experiment = cell;
            } else if (column == "created_utc") {
                created = TRY(time_of(column, cell));
            } else if (column == "start_time_utc") {
                fields.started = TRY(time_of(column, cell));
            } else if (column == "end_time_utc") {
                fields.ended = TRY(time_of(column, cell));
            } else if (column == "status") {
                state = model::parse_run_state(cell);
                if (!state) fields.status = cell;
            }
        }
        if (!state && fields.status.empty()) fields.status = "FINISHED";
        if (fields.id.empty()) fields.id = made_up_id(cells);
        auto copy = TRY(make_run(fields));
        if (state) copy.run.state = *state;
        if (created != 0) copy.run.created = created;
        add_metrics(cells, fields.ended != 0 ? fields.ended : fields.started, copy.points);
        return RunItem{announce(experiment), std::move(copy)};
    }

    // The last value of each: the table has no others.
    void add_metrics(const Cells& cells, std::int64_t time, store::PointsByKey& points)
    {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto& column = columns_[i];
            if (!is_value(column) || !column.starts_with(metric) || trim(cells[i]).empty())
                continue;
            model::MetricPoint point;
            point.time = time;
            if (const auto number = number_of(cells[i], reader_.separator())) {
                point.value = *number;
            } else {
                point.text = plain(cells[i]);
                note_text(column, *point.text);
            }
            store::PointColumns one;
            one.add(point);
            points.append(column.substr(metric.size()), one);
        }
    }

    // Somebody may have meant a number.
    void note_text(const std::string& column, const std::string& text)
    {
        auto& known = texts_.try_emplace(column, Texts{reader_.where(), text}).first->second;
        ++known.count;
    }

    // Once for a column, when all of them are known.
    std::optional<Item> end()
    {
        for (const auto& [column, texts] : std::exchange(texts_, {})) {
            ready_.push_back({texts.where,
                              LeftOut{LeftOut::Severity::note,
                                      fmt::format("numbers in '{}': {} cell{}, '{}' first, {} kept "
                                                  "as text",
                                                  printable(column),
                                                  texts.count,
                                                  texts.count == 1 ? "" : "s",
                                                  printable(texts.first),
                                                  texts.count == 1 ? "is" : "are")}});
        }
        if (ready_.empty()) return std::nullopt;
        return take_front(ready_);
    }

    static Result<std::int64_t> time_of(const std::string& column, const std::string& cell)
    {
        const auto time = parse_written_time(cell);
        if (!time)
            return fail(ErrorKind::invalid_argument,
                        "'{}' in '{}' is not a time such as 2026-01-31T12:00:00.000Z",
                        printable(cell),
                        column);
        return *time;
    }

    // The same for the same row of the same table, so that importing it again adds nothing.
    std::string made_up_id(const Cells& cells)
    {
        std::string bytes = name_;
        for (const auto* row : {&reader_.heading(), &cells}) {
            for (const auto& cell : *row)
                bytes += fmt::format("{}:{}", cell.size(), cell);
        }
        const auto turn = turns_[sha256(bytes).text()]++;
        return sha256(fmt::format("{}:{}", turn, bytes)).text().substr(0, 32);
    }

    ExperimentKey announce(const std::string& experiment)
    {
        if (announced_.insert(experiment).second) {
            store::ExperimentCopy copy;
            copy.name = experiment;
            ready_.push_back({reader_.where(), ExperimentItem{experiment, std::move(copy)}});
        }
        return experiment;
    }

    TableReader reader_;
    std::vector<std::string> columns_;  // the heading, with names as we know them
    std::string name_;                  // of the experiment, unless a row says another
    std::deque<Item> ready_;
    std::set<std::string> announced_;
    struct Texts {
        std::string where;
        std::string first;
        std::size_t count = 0;
    };
    std::map<std::string, Texts> texts_;  // by columns of metrics: cells that are no numbers
    std::map<std::string, int> turns_;    // how many such rows there were
};

}  // namespace

bool is_table(std::string_view begin)
{
    const auto heading = find_heading(begin);
    return heading && std::any_of(heading->begin(), heading->end(), [](const auto& column) {
               return known_name(column) == "run_id" || is_value(column);
           });
}

Result<std::unique_ptr<Source>> open_table(const os::Path& file)
{
    auto reader = TRY(TableReader::open(file));
    const auto& heading = reader.heading();
    const auto has = [&](std::string_view name) {
        return std::find(heading.begin(), heading.end(), name) != heading.end();
    };
    if (std::none_of(heading.begin(), heading.end(), [](const auto& column) {
            return is_own(known_name(column));
        }))
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("{} has none of the columns of a table of runs", os::in_quotes(file)),
            "Columns are 'name', 'experiment', 'start_time_utc', 'metrics.NAME', "
            "'params.NAME', 'tags.NAME' and so on: 'ponk history export --format csv' writes them "
            "all."));
    if (has("key") && has("step") && has("value"))
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("{} is a table of points", os::in_quotes(file)),
                                    "Only tables of runs can be imported. Use the JSON Lines of "
                                    "'ponk history export': they have runs with all points."));
    return std::make_unique<TableSource>(std::move(reader), file.stem().native());
}

}  // namespace ponk::importer
