// SPDX-License-Identifier: Apache-2.0
#include "relay/calls.hpp"

namespace ponk::relay {

namespace {

Result<Answer> show_history(Recorder& recorder, const Call& call)
{
    const auto id = TRY(call.fields.run_id());
    const auto key = TRY(call.fields.text("metric_key"));
    const auto most = TRY(call.fields.find_integer("max_results"));
    if (most && *most <= 0) return tl::unexpected(call.fields.invalid("max_results"));
    if (!recorder.look([&id](const TrackedState& state) { return state.find_run(id) != nullptr; }))
        return Answer();
    const auto token = TRY(call.fields.find_text("page_token")).value_or("");
    const auto page = recorder.histories().page(
        id, key, token, most ? static_cast<std::size_t>(*most) : static_cast<std::size_t>(-1));
    if (!page && page.error().kind() == ErrorKind::invalid_argument)
        return tl::unexpected(call.fields.invalid("page_token"));
    if (!page) return tl::unexpected(page.error());
    JsonArray metrics;
    metrics.reserve(page->points.size());
    for (const auto& point : page->points) {
        metrics.emplace_back(JsonObject{
            {"key", key}, {"value", point.value}, {"timestamp", point.time}, {"step", point.step}});
    }
    JsonObject out;
    if (!metrics.empty()) out.append("metrics", std::move(metrics));
    if (!page->next.empty()) out.append("next_page_token", page->next);
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
