// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/json_out.hpp"
#include "api/mlflow/limits.hpp"
#include "api/mlflow/routes.hpp"
#include "base/base64.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

// The history of metrics.
namespace ponk::api::mlflow {

namespace {

using model::MetricPoint;
using Points = std::vector<MetricPoint>;

constexpr std::size_t most_runs = 100;
constexpr std::int64_t longest_bulk = 25'000;
constexpr std::int64_t longest_interval = 2500;

store::Tracking tracking(const Services& services)
{
    return store::Tracking(services.history());
}

Error bad_request(std::string message)
{
    return {ErrorKind::invalid_argument, std::move(message)};
}

// {"metrics": […]}, the list absent when it would be empty.
class MetricList {
public:
    void add(const MetricPoint& point, std::string_view run_id = std::string_view())
    {
        if (out_.size() == 1) {
            append_name(out_, "metrics");
            out_ += '[';
        } else {
            out_ += ',';
        }
        append_metric(out_, point, run_id);
    }
    net::Response finish(std::string_view next_page = std::string_view())
    {
        if (out_.size() > 1) out_ += ']';
        if (!next_page.empty()) {
            append_name(out_, "next_page_token");
            append_text(out_, next_page);
        }
        return text_reply(std::move(out_) + "}");
    }

private:
    std::string out_ = "{";
};

// Points come in an order that later ones do not change much: a number tells the place.
Result<std::size_t> page_start(const Fields& fields)
{
    const auto word = TRY(fields.find_text("page_token")).value_or("");
    if (word.empty()) return std::size_t{0};
    const auto bytes = from_base64(word);
    const auto json = bytes ? parse_json(*bytes) : Json();
    if (!json || !(*json)["offset"].is_integer() || (*json)["offset"].as_integer() < 0)
        return tl::unexpected(fields.invalid("page_token"));
    return static_cast<std::size_t>((*json)["offset"].as_integer());
}

std::string page_token(std::size_t offset)
{
    return to_base64(to_json(JsonObject{{"offset", offset}}), Base64::url);
}

Result<net::Response> get_history(const Services& services, const Call& call)
{
    const auto id = TRY(call.fields.run_id());
    const auto key = TRY(call.fields.text("metric_key"));
    const auto wanted = TRY(call.fields.find_integer("max_results"));
    if (wanted && *wanted <= 0) return tl::unexpected(call.fields.invalid("max_results"));
    const auto start = TRY(page_start(call.fields));
    const auto points = TRY(tracking(services).metric_history(id, key));
    const auto left = points.size() - std::min(start, points.size());
    const auto count = wanted ? std::min(left, static_cast<std::size_t>(*wanted)) : left;
    MetricList list;
    for (std::size_t i = 0; i < count; ++i)
        list.add(points[start + i]);
    return list.finish(count < left ? page_token(start + count) : "");
}

Result<net::Response> get_history_bulk(const Services& services, const Call& call)
{
    auto ids = TRY(call.fields.texts("run_id"));
    if (ids.empty())
        return tl::unexpected(
            bad_request("GetMetricHistoryBulk request must specify at least one run_id."));
    if (ids.size() > most_runs)
        return tl::unexpected(bad_request(
            fmt::format("GetMetricHistoryBulk request cannot specify more than {} run_ids. "
                        "Received {} run_ids.",
                        most_runs,
                        ids.size())));
    const auto key = TRY(call.fields.find_text("metric_key")).value_or("");
    if (key.empty())
        return tl::unexpected(
            bad_request("GetMetricHistoryBulk request must specify a metric_key."));
    const auto wanted = TRY(call.fields.find_integer("max_results")).value_or(longest_bulk);
    if (wanted <= 0) return tl::unexpected(call.fields.invalid("max_results"));
    auto left = std::min(wanted, longest_bulk);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    MetricList list;
    for (const auto& id : ids) {
        if (left == 0) break;
        for (const auto& point : TRY(tracking(services).metric_history(id, key))) {
            if (left-- == 0) break;
            list.add(point, id);
        }
        left = std::max<std::int64_t>(left, 0);
    }
    return list.finish();
}

struct Steps {
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

Result<Steps> steps_of(const Fields& fields)
{
    const auto first = TRY(fields.find_integer("start_step"));
    const auto last = TRY(fields.find_integer("end_step"));
    if (first.has_value() != last.has_value())
        return tl::unexpected(
            bad_request("If either start step or end step are specified, both must be specified."));
    if (!first) return Steps{};
    if (*first > *last) {
        return tl::unexpected(
            bad_request(fmt::format("end_step must be greater than start_step. Found start_step={} "
                                    "and end_step={}.",
                                    *first,
                                    *last)));
    }
    return Steps{*first, *last};
}

// Of each of `most` equal stretches the first point, and the very last one.
Points sampled(Points points, std::size_t most)
{
    if (points.size() <= most) return points;
    const auto size = points.size() / most;
    const auto longer = points.size() % most;  // stretches that have one more
    Points kept;
    kept.reserve(most + 1);
    std::size_t at = 0;
    for (std::size_t i = 0; i < most; ++i) {
        at = i * size + std::min(i, longer);
        kept.push_back(std::move(points[at]));
    }
    if (at + 1 < points.size()) kept.push_back(std::move(points.back()));
    return kept;
}

Points within(Points points, const Steps& steps)
{
    std::erase_if(points, [&steps](const MetricPoint& point) {
        return point.step < steps.first || point.step > steps.last;
    });
    const auto before = [](const MetricPoint& a, const MetricPoint& b) {
        // Those of one step and time are in order already.
        return std::tuple(a.step, a.time) < std::tuple(b.step, b.time);
    };
    if (!std::is_sorted(points.begin(), points.end(), before))
        std::stable_sort(points.begin(), points.end(), before);
    return points;
}

Result<net::Response> get_history_bulk_interval(const Services& services, const Call& call)
{
    const auto ids = TRY(call.fields.texts("run_ids"));
    if (ids.empty()) return tl::unexpected(call.fields.missing("run_ids"));
    if (ids.size() > most_runs)
        return tl::unexpected(bad_request(
            fmt::format("GetMetricHistoryBulkInterval request must specify at most {} run_ids. "
                        "Received {} run_ids.",
                        most_runs,
                        ids.size())));
    const auto key = TRY(call.fields.text("metric_key"));
    const auto steps = TRY(steps_of(call.fields));
    const auto most = TRY(call.fields.find_integer("max_results")).value_or(longest_interval);
    if (most < 1 || most > longest_interval)
        return tl::unexpected(
            bad_request(fmt::format("max_results must be between 1 and {}.", longest_interval)));
    MetricList list;
    for (const auto& id : ids) {
        const auto all = TRY(tracking(services).metric_history(id, key));
        for (const auto& point : sampled(within(all, steps), static_cast<std::size_t>(most)))
            list.add(point, id);
    }
    return list.finish();
}

}  // namespace

std::span<const Route> metric_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {"GET", "/api/2.0/mlflow/metrics/get-history", read, get_history},
        // This one is for browsers alone.
        {"GET", "/ajax-api/2.0/mlflow/metrics/get-history-bulk", read, get_history_bulk},
        {"GET",
         "/api/2.0/mlflow/metrics/get-history-bulk-interval",
         read,
         get_history_bulk_interval},
    };
    return table;
}

}  // namespace ponk::api::mlflow
