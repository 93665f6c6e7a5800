// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/limits.hpp"
#include "api/mlflow/routes.hpp"
#include "api/mlflow/tracking/trace_filter.hpp"
#include "store/tracking/traces.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

// Whether traces that pass one filter tend to pass another.
namespace ponk::api::mlflow {

namespace {

constexpr std::size_t most_experiments = 1000;
constexpr double smoothing = 0.5;  // Jeffreys' prior

// Pointwise mutual information, normalized to -1…1; nullopt where it is not defined. `added` goes
// to each of the four cells.
std::optional<double> correlation(const store::TraceCounts& counts, double added)
{
    const auto alone_first = counts.first - counts.both;
    const auto alone_second = counts.second - counts.both;
    const auto neither = counts.all - counts.first - counts.second + counts.both;
    if (counts.first == 0 || counts.second == 0) return std::nullopt;
    if (counts.both == 0 && added == 0) return -1.0;
    if (alone_first == 0 && alone_second == 0 && neither == 0) return 1.0;
    const double both = static_cast<double>(counts.both) + added;
    const double all = static_cast<double>(counts.all) + 4 * added;
    const double first = static_cast<double>(counts.first) + 2 * added;
    const double second = static_cast<double>(counts.second) + 2 * added;
    const double information = std::log(both) + std::log(all) - std::log(first) - std::log(second);
    return std::clamp(information / (std::log(all) - std::log(both)), -1.0, 1.0);
}

Result<net::Response> correlate(const Services& services, const Call& call)
{
    const auto& fields = call.fields;
    const auto experiments = TRY(fields.texts("experiment_ids"));
    if (experiments.empty()) return tl::unexpected(fields.missing("experiment_ids"));
    if (experiments.size() > most_experiments)
        return fail(ErrorKind::invalid_argument,
                    "A call can name at most {} experiment_ids",
                    most_experiments);
    for (const char* name : {"filter_string1", "filter_string2"})
        TRY(fields.text(name));
    store::TraceSearch search;
    for (const auto& id : experiments)
        search.experiments.push_back(TRY(parse_experiment_id(id)));
    search.filter = TRY(trace_filter_of(fields, "base_filter"));
    const auto first = TRY(trace_filter_of(fields, "filter_string1"));
    const auto second = TRY(trace_filter_of(fields, "filter_string2"));
    const store::Traces traces(services.history());
    const auto counts = TRY(traces.count_both(search, first, second));
    JsonObject answer;
    if (const auto plain = correlation(counts, 0)) answer.set("npmi", *plain);
    if (const auto smooth = correlation(counts, smoothing)) answer.set("npmi_smoothed", *smooth);
    answer.set("filter1_count", counts.first);
    answer.set("filter2_count", counts.second);
    answer.set("joint_count", counts.both);
    answer.set("total_count", counts.all);
    return reply(std::move(answer));
}

}  // namespace

std::span<const Route> trace_correlation_routes()
{
    using enum Permission;
    static constexpr Route table[] = {
        {.method = "POST",
         .pattern = "/api/3.0/mlflow/traces/calculate-filter-correlation",
         .permission = read,
         .action = correlate,
         .pace = net::Reception::Pace::compute},
    };
    return table;
}

}  // namespace ponk::api::mlflow
