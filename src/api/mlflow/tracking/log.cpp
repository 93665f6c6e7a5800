// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking/log.hpp"

#include "api/mlflow/limits.hpp"
#include "api/mlflow/tracking/log_body.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>

namespace ponk::api::mlflow {

namespace {

constexpr std::string_view json_type = "application/json";

// The form in which clients write it; others are left to Fields.
bool is_plainly_json(const net::Request& request)
{
    const auto type = request.header("Content-Type");
    return type.starts_with(json_type) &&
           (type.size() == json_type.size() || type[json_type.size()] == ';');
}

// A point that names a model is that one's too, measured on the dataset that it names.
void add_point(ponk::mlflow::LoggedMetric metric, store::Logged& logged)
{
    if (!metric.model_id.empty()) {
        logged.model_metrics.push_back({.model = std::move(metric.model_id),
                                        .key = metric.key,
                                        .value = metric.value,
                                        .time = metric.time,
                                        .step = metric.step,
                                        .dataset_name = unless_empty(metric.dataset_name),
                                        .dataset_digest = unless_empty(metric.dataset_digest)});
    }
    logged.points.add(metric.key, metric.value, metric.step, metric.time);
}

Result<LogBody> batch_body_of(const Fields& fields)
{
    LogBody body;
    body.run_id = TRY(ponk::mlflow::run_id_of(fields));
    auto batch = TRY(ponk::mlflow::batch_of(fields));
    for (auto& metric : batch.metrics)
        add_point(std::move(metric), body.logged);
    body.logged.params = std::move(batch.params);
    body.logged.tags = std::move(batch.tags);
    return body;
}

Result<LogBody> metric_body_of(const Fields& fields)
{
    LogBody body;
    body.run_id = TRY(fields.run_id());
    add_point(TRY(ponk::mlflow::metric_of(fields)), body.logged);
    return body;
}

void tell(const Services& services, const std::string& run, engine::News news)
{
    if (const auto id = RunId::parse(run)) services.context().notifier.ring(*id, news);
}

Result<net::Response> store_it(const Services& services, LogBody body)
{
    auto& logged = body.logged;
    // Numbers come often and are let pass as they are.
    if (!logged.params.empty() || !logged.tags.empty()) {
        const auto secrets = TRY(secrets_of(services, body.run_id));
        std::string no_name;
        secrets.hide(no_name, logged.params);
        secrets.hide(no_name, logged.tags);
    }
    const bool is_row = !logged.params.empty() || !logged.tags.empty();
    TRY(store::Tracking(services.history()).log(body.run_id, body.logged));
    tell(services, body.run_id, is_row ? engine::News::row : engine::News::points);
    return reply();
}

// What only has points needs no worker that waits for the disk.
bool begin(const Services& services, const LogBody& body, const net::Respond& respond)
{
    const auto& logged = body.logged;
    if (!logged.params.empty() || !logged.tags.empty() || logged.points.empty()) return false;
    return store::Tracking(services.history())
        .log_later(body.run_id,
                   logged.points,
                   [&services, run = body.run_id, respond](const Result<>& outcome) {
                       if (outcome) tell(services, run, engine::News::points);
                       respond(outcome ? reply() : refuse(outcome.error()));
                   });
}

}  // namespace

bool begin_log_metric(const Services& services,
                      const net::Request& request,
                      const net::Respond& respond)
{
    if (!is_plainly_json(request)) return false;
    const auto body = scan_metric(request.body);
    return body && begin(services, *body, respond);
}

bool begin_log_batch(const Services& services,
                     const net::Request& request,
                     const net::Respond& respond)
{
    // Others have their turn before a larger one is read.
    constexpr std::size_t largest = 256 * 1024;
    if (!is_plainly_json(request) || request.body.size() > largest) return false;
    const auto scanned = scan_batch(request.body);
    return scanned.body && begin(services, *scanned.body, respond);
}

Result<engine::RunSecrets> secrets_of(const Services& services, const std::string& run_id)
{
    const auto id = RunId::parse(run_id);
    const auto run = id ? TRY(services.history().find_run(*id)) : std::nullopt;
    return run ? engine::RunSecrets::load(services.context(), *run) : engine::RunSecrets();
}

Result<net::Response> log_metric(const Services& services, const Call& call)
{
    if (is_plainly_json(call.request)) {
        if (auto body = scan_metric(call.request.body)) return store_it(services, std::move(*body));
    }
    return store_it(services, TRY(metric_body_of(TRY(Fields::of(call.request)))));
}

Result<net::Response> log_batch(const Services& services, const Call& call)
{
    if (is_plainly_json(call.request)) {
        auto scanned = scan_batch(call.request.body);
        // Nobody needs to know by how many: the rest is not even read.
        if (scanned.too_many_metrics)
            return tl::unexpected(
                too_many("metrics", limits::batch_metrics, limits::batch_metrics + 1));
        if (scanned.body) return store_it(services, std::move(*scanned.body));
    }
    return store_it(services, TRY(batch_body_of(TRY(Fields::of(call.request)))));
}

Result<net::Response> log_parameter(const Services& services, const Call& call)
{
    LogBody body;
    body.run_id = TRY(call.fields.run_id());
    body.logged.params.push_back(TRY(ponk::mlflow::param_of(call.fields)));
    return store_it(services, std::move(body));
}

Result<net::Response> set_tag(const Services& services, const Call& call)
{
    LogBody body;
    body.run_id = TRY(call.fields.run_id());
    body.logged.tags.push_back(TRY(tag_of(call.fields)));
    return store_it(services, std::move(body));
}

Result<net::Response> delete_tag(const Services& services, const Call& call)
{
    const auto id = TRY(call.fields.run_id());
    TRY(store::Tracking(services.history()).delete_tag(id, TRY(call.fields.text("key"))));
    return reply();
}

}  // namespace ponk::api::mlflow
