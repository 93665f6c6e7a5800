// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/routes.hpp"
#include "api/mlflow/tracking/json_out.hpp"
#include "base/work_budget.hpp"

#include <algorithm>
#include <limits>
#include <optional>

// The history of metrics.
namespace ponk::api::mlflow {

namespace {

using model::MetricPoint;

// Of a point's text in an answer, beside its key.
constexpr std::size_t point_size = 80;
constexpr std::size_t most_runs = 100;
constexpr std::size_t piece = 100'000;
constexpr std::int64_t longest_bulk = 25'000;
constexpr std::int64_t longest_interval = 2500;

Error bad_request(std::string message)
{
    return {ErrorKind::invalid_argument, std::move(message)};
}

// {"metrics": […]}
class MetricList {
public:
    enum class WhenEmpty { absent, told };
    explicit MetricList(WhenEmpty when_empty = WhenEmpty::absent) : when_empty_(when_empty) {}

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
        if (out_.size() > 1) {
            out_ += ']';
        } else if (when_empty_ == WhenEmpty::told) {
            out_ += "\"metrics\":[]";
        }
        if (!next_page.empty()) {
            append_name(out_, "next_page_token");
            append_text(out_, next_page);
        }
        return text_reply(std::move(out_) + "}");
    }

private:
    WhenEmpty when_empty_;
    std::string out_ = "{";
};

// nullopt: no run can be called so, and it has no points.
std::optional<RunId> run_of(const std::string& text)
{
    const auto id = RunId::parse(text);
    return id ? std::optional(*id) : std::nullopt;
}

Result<net::Response> get_history(const Services& services, const Call& call)
{
    const auto id = run_of(TRY(call.fields.run_id()));
    const auto key = TRY(call.fields.text("metric_key"));
    const auto wanted = TRY(call.fields.find_integer("max_results"));
    if (wanted && *wanted <= 0) return tl::unexpected(call.fields.invalid("max_results"));
    auto token = TRY(call.fields.find_text("page_token")).value_or("");
    MetricList list;
    if (!id) return list.finish();
    // All of it unless a size is given, in pieces: as points it takes more room than as text.
    auto left = static_cast<std::size_t>(wanted.value_or(std::numeric_limits<std::int64_t>::max()));
    do {
        auto page = TRY(services.history().metric_history(*id, key, token, std::min(left, piece)));
        // Cut short it would be taken for all of it by clients that know no pages.
        TRY(charge_answer(page.points.size() * (key.size() + point_size)));
        for (const auto& point : page.points)
            list.add(point);
        left -= page.points.size();
        token = std::move(page.next);
    } while (left > 0 && !token.empty());
    return list.finish(token);
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
    MetricList list(MetricList::WhenEmpty::told);
    for (const auto& text : ids) {
        const auto id = run_of(text);
        if (!id || left == 0) continue;
        const auto page =
            TRY(services.history().metric_history(*id, key, {}, static_cast<std::size_t>(left)));
        for (const auto& point : page.points)
            list.add(point, text);
        left -= static_cast<std::int64_t>(page.points.size());
    }
    return list.finish();
}

Result<std::optional<store::StepRange>> steps_of(const Fields& fields)
{
    const auto first = TRY(fields.find_integer("start_step"));
    const auto last = TRY(fields.find_integer("end_step"));
    if (first.has_value() != last.has_value())
        return tl::unexpected(
            bad_request("If either start step or end step are specified, both must be specified."));
    if (!first) return std::optional<store::StepRange>();
    if (*first > *last) {
        return tl::unexpected(
            bad_request(fmt::format("end_step must be greater than start_step. Found start_step={} "
                                    "and end_step={}.",
                                    *first,
                                    *last)));
    }
    return std::optional(store::StepRange{*first, *last});
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
    for (const auto& text : ids) {
        const auto id = run_of(text);
        if (!id) continue;
        const auto points = TRY(
            services.history().sampled_history(*id, key, steps, static_cast<std::size_t>(most)));
        for (const auto& point : points)
            list.add(point, text);
    }
    return list.finish();
}

}  // namespace

std::span<const Route> metric_routes()
{
    using enum Permission;
    // Of long series; short calls are answered meanwhile.
    const auto series = [](const char* pattern, Action action) {
        return Route{.method = "GET",
                     .pattern = pattern,
                     .permission = read,
                     .action = action,
                     .pace = net::Reception::Pace::compute};
    };
    static const Route table[] = {
        series("/api/2.0/mlflow/metrics/get-history", get_history),
        // This one is for browsers alone.
        series("/ajax-api/2.0/mlflow/metrics/get-history-bulk", get_history_bulk),
        series("/api/2.0/mlflow/metrics/get-history-bulk-interval", get_history_bulk_interval),
    };
    return table;
}

}  // namespace ponk::api::mlflow
