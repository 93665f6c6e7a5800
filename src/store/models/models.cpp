// SPDX-License-Identifier: Apache-2.0
#include "store/models/models.hpp"

#include "base/id.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "model/changed_param.hpp"
#include "store/history/history_access.hpp"
#include "store/models/model_row.hpp"
#include "store/rows/artifact_location.hpp"

#include <cmath>
#include <limits>

namespace ponk::store {

namespace {

tl::unexpected<Error> no_model(const std::string& id)
{
    return fail(ErrorKind::not_found, "Logged model with ID '{}' not found.", printable(id));
}

Result<std::vector<ModelMetric>>
read_metrics(db::Connection& connection, std::int64_t row, const std::string& id)
{
    auto statement = TRY(connection.prepare(
        "SELECT key, value, time, step, dataset_name, dataset_digest, run.id"
        " FROM logged_model_metric CROSS JOIN run ON run.row = logged_model_metric.run"
        " WHERE model = ? ORDER BY key, time, step, logged_model_metric.run, "
        "logged_model_metric.row"));
    statement.bind(row);
    std::vector<ModelMetric> metrics;
    while (TRY(statement.step())) {
        metrics.push_back(
            {id,
             statement.text(0),
             statement.is_null(1) ? std::numeric_limits<double>::quiet_NaN() : statement.real(1),
             statement.integer(2),
             statement.integer(3),
             statement.text_if_any(4),
             statement.text_if_any(5),
             statement.text(6)});
    }
    return metrics;
}

Result<> touch(db::Connection& writer, std::int64_t row, const char* change, std::string_view value)
{
    auto statement = TRY(writer.prepare(
        fmt::format("UPDATE logged_model SET {} = ?, updated = ? WHERE row = ?", change)));
    return statement.bind(value, wall_milliseconds(), row).run();
}

// Each is written once; the same again changes nothing.
Result<> add_params(db::Connection& writer, std::int64_t row, const Pairs& params)
{
    for (const auto& [key, value] : params) {
        auto find =
            TRY(writer.prepare("SELECT value FROM logged_model_param WHERE model = ? AND key = ?"));
        find.bind(row, key);
        if (TRY(find.step())) {
            if (find.text(0) == value) continue;
            return tl::unexpected(model::changed_param(key, find.text(0), "this model", value));
        }
        TRY(put_pairs(writer, model_params, row, {{key, value}}));
    }
    return {};
}

}  // namespace

Result<std::int64_t> get_model_row(db::Connection& connection, const std::string& id)
{
    auto statement = TRY(connection.prepare("SELECT row FROM logged_model WHERE id = ?"));
    statement.bind(id);
    if (!TRY(statement.step())) return no_model(id);
    return statement.integer(0);
}

Result<LoggedModel> read_model(db::Connection& connection, std::int64_t row)
{
    auto statement = TRY(
        connection.prepare("SELECT id, project, name, type, status, source_run, location, created,"
                           " updated FROM logged_model WHERE row = ?"));
    statement.bind(row);
    if (!TRY(statement.step())) return fail(ErrorKind::internal, "row {} of a model is gone", row);
    LoggedModel model{.id = statement.text(0),
                      .experiment = statement.integer(1),
                      .name = statement.text(2),
                      .type = statement.text(3),
                      .status = statement.text(4),
                      .source_run = statement.text(5),
                      .location = statement.text(6),
                      .created = statement.integer(7),
                      .updated = statement.integer(8)};
    model.tags = TRY(read_pairs(connection, model_tags, row));
    model.params = TRY(read_pairs(connection, model_params, row));
    model.metrics = TRY(read_metrics(connection, row, model.id));
    return model;
}

Result<LoggedModel> Models::create(const NewModel& model)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<LoggedModel> {
        if (!model.id.empty()) {
            if (const auto known = get_model_row(writer, model.id))
                return read_model(writer, *known);
        }
        const auto experiment = TRY(get_writable_experiment(writer, model.experiment));
        const auto id = model.id.empty() ? "m-" + RunId::make().text() : model.id;
        auto insert = TRY(
            writer.prepare("INSERT INTO logged_model(id, project, name, type, status, source_run,"
                           " location, created, updated) VALUES(?, ?, ?, ?, ?, ?, ?, ?8, ?8)"));
        insert.bind(id,
                    experiment.row,
                    model.name,
                    model.type,
                    model_pending,
                    model.source_run,
                    below_location(experiment.location, fmt::format("models/{}/artifacts", id)),
                    model.created > 0 ? model.created : wall_milliseconds());
        TRY(insert.run());
        const auto row = writer.last_row();
        TRY(add_params(writer, row, model.params));
        TRY(put_pairs(writer, model_tags, row, model.tags));
        return read_model(writer, row);
    });
}

Result<LoggedModel> Models::get(const std::string& id, Deleted deleted) const
{
    auto& database = HistoryAccess::database(history_);
    return database.read([&](db::Connection& reader) -> Result<LoggedModel> {
        auto statement = TRY(reader.prepare("SELECT row, deleted FROM logged_model WHERE id = ?"));
        statement.bind(id);
        if (!TRY(statement.step())) return no_model(id);
        if (statement.integer(1) != 0 && deleted == Deleted::leave_out) return no_model(id);
        return read_model(reader, statement.integer(0));
    });
}

Result<LoggedModel> Models::set_status(const std::string& id, std::string_view status)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<LoggedModel> {
        const auto row = TRY(get_model_row(writer, id));
        TRY(touch(writer, row, "status", status));
        return read_model(writer, row);
    });
}

Result<> Models::set_tags(const std::string& id, const Pairs& tags)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        return put_pairs(writer, model_tags, TRY(get_model_row(writer, id)), tags);
    });
}

Result<> Models::remove_tag(const std::string& id, const std::string& key)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        if (TRY(remove_pair(writer, model_tags, TRY(get_model_row(writer, id)), key))) return {};
        return fail(ErrorKind::not_found,
                    "No tag with key '{}' found for model with ID '{}'.",
                    printable(key),
                    printable(id));
    });
}

Result<> Models::log_params(const std::string& id, const Pairs& params)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        return add_params(writer, TRY(get_model_row(writer, id)), params);
    });
}

Result<> Models::remove(const std::string& id)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        auto statement =
            TRY(writer.prepare("UPDATE logged_model SET deleted = 1, updated = ? WHERE row = ?"));
        return statement.bind(wall_milliseconds(), TRY(get_model_row(writer, id))).run();
    });
}

Result<>
Models::log_metrics(const std::string& run, const std::vector<ModelMetric>& metrics, Into into)
{
    auto& database = HistoryAccess::database(history_);
    return database.write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        return store_model_metrics(writer, TRY(get_writable_run(writer, run, into)).row, metrics);
    });
}

Result<> store_model_metrics(db::Connection& writer,
                             std::int64_t run,
                             const std::vector<ModelMetric>& metrics)
{
    for (const auto& metric : metrics) {
        const auto model = TRY(get_model_row(writer, metric.model));
        auto insert = TRY(writer.prepare(
            "INSERT OR IGNORE INTO logged_model_metric(model, key, time, step, run, value,"
            " dataset_name, dataset_digest) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
        insert.bind(model,
                    metric.key,
                    metric.time,
                    metric.step,
                    run,
                    std::isnan(metric.value) ? std::nullopt : std::optional(metric.value),
                    metric.dataset_name,
                    metric.dataset_digest);
        TRY(insert.run());
    }
    return {};
}

}  // namespace ponk::store
