// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"
#include "api/native/run_json.hpp"
#include "base/take.hpp"
#include "base/text.hpp"

#include <deque>
#include <limits>
#include <optional>

namespace ponk::api {

namespace {

constexpr std::size_t keys_at_a_time = 500;
constexpr std::size_t points_at_a_time = 2000;
constexpr std::int64_t most_points = 100'000;

struct Wanted {
    std::optional<std::string> key;     // this one alone
    std::string prefix;                 // of the names that are wanted
    std::optional<std::size_t> points;  // reduced to so many per key; none: all of them
    std::size_t keys = std::numeric_limits<std::size_t>::max();
    std::int64_t from = 0;  // points of the key before this one are known already
};

// {"metrics": {KEY: {"latest", "count", "points": [[step, time, value]…]}}} in pieces: a run may
// have more points than there is memory.
class MetricsSource final : public net::BodySource {
public:
    MetricsSource(const Services& services, RunId id, Wanted wanted)
        : services_(services), id_(std::move(id)), wanted_(std::move(wanted))
    {
        if (!wanted_.prefix.empty()) last_key_ = wanted_.prefix;
    }

    void attach(std::function<void()> /*ring*/) override {}

    Step next(std::string& out) override
    {
        const auto step = advance(out);
        return step ? *step : Step::broken;
    }

private:
    Result<Step> advance(std::string& out)
    {
        if (!begun_) out += "{\"metrics\":{";
        begun_ = true;
        if (!open_ && !TRY(open_key(out))) {
            out += "}}\n";
            return Step::end;
        }
        TRY(add_points(out));
        return Step::data;
    }

    // The next key's beginning; false when there is none.
    Result<bool> open_key(std::string& out)
    {
        if (keys_.empty()) TRY(fetch_keys());
        if (keys_.empty() || wanted_.keys == 0) return false;
        --wanted_.keys;
        open_ = take_front(keys_);
        given_ = std::min(wanted_.from, open_->count);
        out += fmt::format("{}{}:{{\"latest\":{},\"count\":{},\"points\":[",
                           first_ ? "" : ",",
                           to_json(open_->point.key),
                           to_json(metric_value(open_->point)),
                           open_->count);
        first_ = false;
        return true;
    }

    Result<> fetch_keys()
    {
        if (fetched_all_) return {};
        if (wanted_.key) {
            if (auto found = TRY(services_.history().find_metric(id_, *wanted_.key)))
                keys_.push_back(std::move(*found));
            fetched_all_ = true;
            return {};
        }
        auto more =
            TRY(services_.history().latest_metrics(id_, {last_key_, std::size_t{keys_at_a_time}}));
        fetched_all_ = more.size() < keys_at_a_time;
        if (!more.empty()) last_key_ = more.back().point.key;
        for (auto& metric : more) {
            // They come in order: behind the wanted ones there are no more.
            fetched_all_ = fetched_all_ || !metric.point.key.starts_with(wanted_.prefix);
            if (metric.point.key.starts_with(wanted_.prefix)) keys_.push_back(std::move(metric));
        }
        return {};
    }

    // Some of the open key's points; its end with the last of them.
    Result<> add_points(std::string& out)
    {
        const auto& key = open_->point.key;
        // No more than `count` said, though more may have come since.
        const auto left = static_cast<std::size_t>(open_->count - given_);
        const bool reduced = wanted_.points && left > *wanted_.points;
        const auto points = reduced ? TRY(curve(key))
                                    : TRY(services_.history().metric_points(
                                          id_, key, given_, std::min(points_at_a_time, left)));
        for (const auto& point : points) {
            out += fmt::format("{}[{},{},{}]",
                               out.ends_with('[') ? "" : ",",
                               point.step,
                               point.time,
                               to_json(metric_value(point)));
        }
        given_ += static_cast<std::int64_t>(points.size());
        if (!reduced && !points.empty() && given_ < open_->count) return {};
        out += "]}";
        open_.reset();
        return {};
    }

    [[nodiscard]] Result<std::vector<model::MetricPoint>> curve(const std::string& key) const
    {
        if (*wanted_.points == 0) return std::vector<model::MetricPoint>();
        if (*wanted_.points <= 2) return ends(key);
        return services_.history().metric_curve(id_, key, *wanted_.points);
    }

    // The first point and the last, for which nobody reads those between.
    [[nodiscard]] Result<std::vector<model::MetricPoint>> ends(const std::string& key) const
    {
        auto points = TRY(services_.history().metric_points(id_, key, 0, 1));
        if (*wanted_.points == 1) return points;
        for (auto& last : TRY(services_.history().metric_points(id_, key, open_->count - 1, 1)))
            points.push_back(std::move(last));
        return points;
    }

    const Services& services_;
    RunId id_;
    Wanted wanted_;
    bool begun_ = false;
    bool first_ = true;
    bool fetched_all_ = false;
    std::optional<std::string> last_key_;
    std::deque<store::LatestMetric> keys_;  // fetched, not yet begun
    std::optional<store::LatestMetric> open_;
    std::int64_t given_ = 0;  // points of the open key that were sent
};

Result<std::optional<std::size_t>>
number_of(const net::Request& request, std::string_view name, std::int64_t most)
{
    const auto text = request.parameter(name);
    if (!text) return std::optional<std::size_t>();
    const auto number = parse_integer(*text);
    if (!number || *number < 0 || *number > most)
        return fail(ErrorKind::invalid_argument, "'{}' must be 0 to {}", name, most);
    return std::optional(static_cast<std::size_t>(*number));
}

}  // namespace

Result<net::Response> show_metrics(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    const auto points = TRY(number_of(call.request, "points", most_points));
    Wanted wanted{.key = call.request.parameter("key"),
                  .prefix = call.request.parameter("prefix").value_or(""),
                  .points = points};
    if (const auto from =
            TRY(number_of(call.request, "from", std::numeric_limits<std::int64_t>::max()))) {
        if (!wanted.key || wanted.points)
            return fail(ErrorKind::invalid_argument,
                        "'from' needs 'key' and cannot be used with 'points'");
        wanted.from = static_cast<std::int64_t>(*from);
    }
    if (const auto limit = TRY(number_of(call.request, "limit", most_points))) wanted.keys = *limit;
    net::Response response;
    response.stream = std::make_unique<MetricsSource>(services, id, std::move(wanted));
    return response;
}

}  // namespace ponk::api
