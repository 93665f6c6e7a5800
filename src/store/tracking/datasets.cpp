// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/datasets.hpp"

#include "base/json.hpp"
#include "store/history/history_access.hpp"
#include "store/search/search_sql.hpp"

#include <fmt/ranges.h>

namespace ponk::store {

namespace {

constexpr std::string_view model_history_tag = "mlflow.log-model.history";
constexpr const char* most_summaries = " LIMIT 1000";

Result<std::int64_t>
ensure_dataset(db::Connection& writer, std::int64_t project, const Dataset& dataset)
{
    auto find = TRY(
        writer.prepare("SELECT row FROM dataset WHERE project = ? AND name = ? AND digest = ?"));
    find.bind(project, dataset.name, dataset.digest);
    if (TRY(find.step())) return find.integer(0);
    auto insert = TRY(writer.prepare(
        "INSERT INTO dataset(project, name, digest, source_type, source, schema, profile)"
        " VALUES(?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(project,
                dataset.name,
                dataset.digest,
                dataset.source_type,
                dataset.source,
                dataset.schema,
                dataset.profile);
    TRY(insert.run());
    return writer.last_row();
}

std::string tags_text(const Pairs& tags)
{
    JsonObject object;
    for (const auto& [key, value] : tags)
        object.set(key, value);
    return to_json(object);
}

Result<Pairs> tags_from(const std::string& text)
{
    const auto json = TRY(parse_json(text).map_error(
        [](const Error& error) { return Error(ErrorKind::damaged, error.message()); }));
    Pairs tags;
    if (!json.is_object()) return tags;
    for (const auto& [key, value] : json.as_object())
        tags.emplace_back(key, value.is_string() ? value.as_string() : std::string());
    return tags;
}

Result<> add_input(db::Connection& writer, const RunRow& run, const DatasetInput& input)
{
    const auto dataset = TRY(ensure_dataset(writer, run.project, input.dataset));
    std::optional<std::string> context;
    for (const auto& [key, value] : input.tags) {
        if (key == dataset_context_tag) context = value;
    }
    auto insert = TRY(writer.prepare(
        "INSERT OR IGNORE INTO run_dataset(run, dataset, number, context, tags) VALUES(?1, ?2,"
        " (SELECT coalesce(max(number), 0) + 1 FROM run_dataset WHERE run = ?1), ?3, ?4)"));
    return insert.bind(run.row, dataset, context, tags_text(input.tags)).run();
}

Result<>
add_model(db::Connection& writer, std::int64_t run, const char* direction, const ModelOutput& model)
{
    auto insert = TRY(writer.prepare(
        "INSERT OR REPLACE INTO run_model(run, direction, model, step) VALUES(?, ?, ?, ?)"));
    return insert.bind(run, direction, model.model, model.step).run();
}

using InputsOfRows = std::map<std::int64_t, RunInputs>;

Result<> read_datasets(db::Connection& reader, const std::string& rows, InputsOfRows& all)
{
    auto statement = TRY(reader.prepare(
        "SELECT run_dataset.run, name, digest, source_type, source, schema, profile, tags"
        " FROM json_each(?) AS wanted CROSS JOIN run_dataset ON run_dataset.run = wanted.value"
        " CROSS JOIN dataset ON dataset.row = run_dataset.dataset"
        " ORDER BY run_dataset.run, number"));
    statement.bind(rows);
    while (TRY(statement.step())) {
        Dataset dataset{statement.text(1),
                        statement.text(2),
                        statement.text(3),
                        statement.text(4),
                        statement.text_if_any(5),
                        statement.text_if_any(6)};
        auto tags = TRY(tags_from(statement.text(7)));
        all[statement.integer(0)].datasets.push_back({std::move(dataset), std::move(tags)});
    }
    return {};
}

Result<> read_models(db::Connection& reader, const std::string& rows, InputsOfRows& all)
{
    auto statement = TRY(
        reader.prepare("SELECT run_model.run, direction, model, step FROM json_each(?) AS wanted"
                       " CROSS JOIN run_model ON run_model.run = wanted.value"));
    statement.bind(rows);
    while (TRY(statement.step())) {
        auto& inputs = all[statement.integer(0)];
        if (statement.text(1) == "input") {
            inputs.models.push_back(statement.text(2));
        } else {
            inputs.outputs.push_back({statement.text(2), statement.integer(3)});
        }
    }
    return {};
}

}  // namespace

Result<> insert_run_inputs(db::Connection& writer, const RunRow& run, const RunInputs& inputs)
{
    for (const auto& input : inputs.datasets)
        TRY(add_input(writer, run, input));
    for (const auto& model : inputs.models)
        TRY(add_model(writer, run.row, "input", {model}));
    for (const auto& output : inputs.outputs)
        TRY(add_model(writer, run.row, "output", output));
    return {};
}

Result<> Datasets::log_inputs(const std::string& run,
                              const std::vector<DatasetInput>& datasets,
                              const std::vector<std::string>& models,
                              Into into)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto row = TRY(get_writable_run(writer, run, into));
        for (const auto& input : datasets)
            TRY(add_input(writer, row, input));
        for (const auto& model : models)
            TRY(add_model(writer, row.row, "input", {model}));
        return {};
    });
}

Result<>
Datasets::log_outputs(const std::string& run, const std::vector<ModelOutput>& models, Into into)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto row = TRY(get_writable_run(writer, run, into));
        for (const auto& model : models)
            TRY(add_model(writer, row.row, "output", model));
        return {};
    });
}

Result<> Datasets::add_model_history(const std::string& run, const Json& model)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto row = TRY(get_writable_run(writer, run)).row;
        JsonArray models;
        auto find = TRY(writer.prepare("SELECT value FROM tag WHERE run = ? AND key = ?"));
        find.bind(row, model_history_tag);
        if (TRY(find.step())) {
            if (auto known = parse_json(find.text(0)); known && known->is_array())
                models = std::move(known->as_array());
        }
        models.push_back(model);
        return put_pairs(
            writer, {"tag", "run"}, row, {{std::string(model_history_tag), to_json(models)}});
    });
}

Result<std::map<std::int64_t, RunInputs>> read_run_inputs(db::Connection& connection,
                                                          const std::vector<std::int64_t>& rows)
{
    InputsOfRows all;
    const auto wanted = fmt::format("[{}]", fmt::join(rows, ","));
    TRY(read_datasets(connection, wanted, all));
    TRY(read_models(connection, wanted, all));
    return all;
}

Result<std::vector<DatasetSummary>>
Datasets::search(const std::vector<std::int64_t>& experiments) const
{
    using Summaries = std::vector<DatasetSummary>;
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<Summaries> {
        auto statement = TRY(reader.prepare(
            std::string("SELECT DISTINCT project, name, digest, context"
                        " FROM json_each(?) AS wanted CROSS JOIN dataset ON project = wanted.value"
                        " CROSS JOIN run_dataset ON run_dataset.dataset = dataset.row"
                        " ORDER BY project, name, digest, context") +
            most_summaries));
        statement.bind(fmt::format("[{}]", fmt::join(experiments, ",")));
        Summaries all;
        while (TRY(statement.step()))
            all.push_back({statement.integer(0),
                           statement.text(1),
                           statement.text(2),
                           statement.text_if_any(3)});
        return all;
    });
}

}  // namespace ponk::store
