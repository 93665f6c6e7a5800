// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/model_json.hpp"
#include "api/mlflow/routes.hpp"
#include "mlflow/model_summary.hpp"

// What runs took and gave: datasets and models.
namespace ponk::api::mlflow {

namespace {

constexpr std::size_t most_experiments = 20;

store::Datasets datasets(const Services& services)
{
    return store::Datasets(services.history());
}

Result<store::Dataset> dataset_of(const Fields& fields)
{
    store::Dataset dataset;
    dataset.name = TRY(fields.text("name"));
    dataset.digest = TRY(fields.text("digest"));
    dataset.source_type = TRY(fields.find_text("source_type")).value_or("");
    dataset.source = TRY(fields.find_text("source")).value_or("");
    dataset.schema = TRY(fields.find_text("schema"));
    dataset.profile = TRY(fields.find_text("profile"));
    TRY(check_length("name", dataset.name, limits::dataset_name));
    TRY(check_length("digest", dataset.digest, limits::dataset_digest));
    TRY(check_length("source_type", dataset.source_type, limits::dataset_digest));
    TRY(check_length("source", dataset.source, limits::dataset_source));
    TRY(check_length("schema", dataset.schema.value_or(""), limits::dataset_schema));
    TRY(check_length("profile", dataset.profile.value_or(""), limits::dataset_profile));
    return dataset;
}

Result<store::DatasetInput> input_of(const Fields& fields)
{
    const auto described = TRY(fields.find_object("dataset"));
    if (!described) return tl::unexpected(fields.missing("dataset"));
    store::DatasetInput input{TRY(dataset_of(*described)), {}};
    for (const auto& tag : TRY(fields.objects("tags"))) {
        auto key = TRY(tag.text("key"));
        auto value = TRY(tag.find_text("value")).value_or("");
        TRY(check_length("key", key, limits::input_tag_key));
        TRY(check_length("value", value, limits::input_tag_value));
        input.tags.emplace_back(std::move(key), std::move(value));
    }
    return input;
}

Result<net::Response> log_inputs(const Services& services, const Call& call)
{
    const auto run = TRY(ponk::mlflow::run_id_of(call.fields));
    const auto listed = TRY(call.fields.objects("datasets"));
    const auto models = TRY(call.fields.objects("models"));
    std::vector<store::DatasetInput> inputs;
    for (const auto& entry : listed)
        inputs.push_back(TRY(input_of(entry)));
    std::vector<std::string> ids;
    for (const auto& entry : models)
        ids.push_back(TRY(entry.text("model_id")));
    TRY(datasets(services).log_inputs(run, inputs, ids));
    return reply();
}

Result<net::Response> log_outputs(const Services& services, const Call& call)
{
    const auto run = TRY(ponk::mlflow::run_id_of(call.fields));
    const auto listed = TRY(call.fields.objects("models"));
    if (listed.empty()) return tl::unexpected(call.fields.missing("models"));
    std::vector<store::ModelOutput> outputs;
    for (const auto& entry : listed) {
        auto& output = outputs.emplace_back();
        output.model = TRY(entry.text("model_id"));
        output.step = TRY(entry.find_integer("step")).value_or(0);
    }
    TRY(datasets(services).log_outputs(run, outputs));
    return reply();
}

Result<net::Response> log_model(const Services& services, const Call& call)
{
    const auto run = TRY(ponk::mlflow::run_id_of(call.fields));
    const auto summary = TRY(ponk::mlflow::model_summary(TRY(call.fields.text("model_json"))));
    TRY(datasets(services).add_model_history(run, summary));
    return reply();
}

Result<net::Response> search_datasets(const Services& services, const Call& call)
{
    const auto texts = TRY(call.fields.texts("experiment_ids"));
    if (texts.empty())
        return fail(ErrorKind::invalid_argument,
                    "SearchDatasets request must specify at least one experiment_id.");
    if (texts.size() > most_experiments)
        return fail(ErrorKind::invalid_argument,
                    "SearchDatasets request cannot specify more than {} experiment_ids. Received {}"
                    " experiment_ids.",
                    most_experiments,
                    texts.size());
    std::vector<std::int64_t> ids;
    for (const auto& text : texts) {
        const auto id = parse_experiment_id(text);
        if (!id && id.error().kind() != ErrorKind::not_found) return tl::unexpected(id.error());
        if (id) ids.push_back(*id);
    }
    JsonArray summaries;
    for (const auto& found : TRY(datasets(services).search(ids))) {
        JsonObject summary{{"experiment_id", std::to_string(found.experiment)},
                           {"name", found.name},
                           {"digest", found.digest}};
        if (found.context) summary.set("context", *found.context);
        summaries.emplace_back(std::move(summary));
    }
    JsonObject answer;
    set_unless_empty(answer, "dataset_summaries", std::move(summaries));
    return reply(std::move(answer));
}

}  // namespace

std::span<const Route> dataset_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        // A profile alone may have 16,777,215 characters, and clients escape each quotation mark.
        {.method = "POST",
         .pattern = "/api/2.0/mlflow/runs/log-inputs",
         .permission = write,
         .action = log_inputs,
         .body_limit = std::size_t{36} << 20},
        {"POST", "/api/2.0/mlflow/runs/outputs", write, log_outputs},
        {"POST", "/api/2.0/mlflow/runs/log-model", write, log_model},
        // Browsers alone ask for it.
        {.method = "POST",
         .pattern = "/ajax-api/2.0/mlflow/experiments/search-datasets",
         .permission = read,
         .action = search_datasets,
         .pace = net::Reception::Pace::compute},
    };
    return table;
}

}  // namespace ponk::api::mlflow
