// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "relay/calls.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ponk::relay {

namespace {

auto rank(const Point& point)
{
    return std::tuple(point.time, point.step, std::isnan(point.value) ? 0.0 : point.value);
}

// As a set, in the order that clients expect.
void put_in_order(std::vector<Point>& points)
{
    std::stable_sort(points.begin(), points.end(), [](const Point& left, const Point& right) {
        return rank(left) < rank(right);
    });
    points.erase(std::unique(points.begin(), points.end(), is_same), points.end());
}

// Page tokens are places in the list, which only grows.
Result<std::size_t> first_of_page(const Fields& fields, std::size_t count)
{
    const auto token = TRY(fields.find_text("page_token")).value_or("");
    if (token.empty()) return std::size_t{0};
    const auto place = parse_integer(token);
    if (!place || *place < 0) return tl::unexpected(fields.invalid("page_token"));
    return std::min(static_cast<std::size_t>(*place), count);
}

Result<Answer> show_history(Recorder& recorder, const Call& call)
{
    const auto id = TRY(call.fields.run_id());
    const auto key = TRY(call.fields.text("metric_key"));
    const auto most = TRY(call.fields.find_integer("max_results"));
    if (most && *most <= 0) return tl::unexpected(call.fields.invalid("max_results"));
    TrackedRun run;
    run.id = id;
    if (!recorder.look([&id](const TrackedState& state) { return state.find_run(id) != nullptr; }))
        return Answer();
    auto points = TRY(recorder.history(run, key));
    put_in_order(points);
    const auto first = TRY(first_of_page(call.fields, points.size()));
    const auto left = points.size() - first;
    const auto count = most ? std::min(left, static_cast<std::size_t>(*most)) : left;
    JsonArray metrics;
    metrics.reserve(count);
    for (std::size_t i = first; i < first + count; ++i) {
        metrics.emplace_back(JsonObject{{"key", key},
                                        {"value", points[i].value},
                                        {"timestamp", points[i].time},
                                        {"step", points[i].step}});
    }
    JsonObject out;
    if (!metrics.empty()) out.append("metrics", std::move(metrics));
    if (count < left) out.append("next_page_token", fmt::format("{}", first + count));
    return reply(std::move(out));
}

}  // namespace

std::span<const Route> metric_calls()
{
    static constexpr Route table[] = {
        {"GET", "/api/2.0/mlflow/metrics/get-history", show_history},
    };
    return table;
}

}  // namespace ponk::relay
