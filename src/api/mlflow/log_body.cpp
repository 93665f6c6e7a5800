// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/log_body.hpp"

#include "api/mlflow/limits.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace ponk::api::mlflow {

namespace {

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Each call reads a thing and what blanks stand before it, or says false, and all ends.
class Scanner {
public:
    explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool take(char c)
    {
        skip_blanks();
        if (at_ == end_ || *at_ != c) return false;
        ++at_;
        return true;
    }

    bool at_end()
    {
        skip_blanks();
        return at_ == end_;
    }

    // ASCII without escapes.
    bool text(std::string_view& out)
    {
        if (!take('"')) return false;
        const auto* const begin = at_;
        for (; at_ != end_ && *at_ != '"'; ++at_) {
            if (*at_ < 0x20 || *at_ == '\\' || *at_ == 0x7f) return false;
        }
        if (at_ == end_) return false;
        out = {begin, static_cast<std::size_t>(at_ - begin)};
        ++at_;
        return true;
    }

    bool number(double& out)
    {
        if (!begins_number()) return false;
        const auto [stop, problem] = std::from_chars(at_, end_, out);
        // "1." is no JSON, though it reads as a number.
        if (problem != std::errc() || !is_digit(stop[-1]) || !std::isfinite(out)) return false;
        at_ = stop;
        return true;
    }

    bool integer(std::int64_t& out)
    {
        skip_blanks();
        const auto* first = at_;
        if (first != end_ && *first == '-') ++first;
        const auto [stop, problem] = std::from_chars(at_, end_, out);
        if (problem != std::errc()) return false;
        if (*first == '0' && stop - first > 1) return false;  // JSON has no zeros in front
        if (stop != end_ && (*stop == '.' || *stop == 'e' || *stop == 'E')) return false;
        at_ = stop;
        return true;
    }

    // Whoever knows all names that there are need not look for escapes in them.
    bool name(std::string_view& out)
    {
        if (!take('"')) return false;
        const auto* const begin = at_;
        while (at_ != end_ && *at_ != '"')
            ++at_;
        if (at_ == end_) return false;
        out = {begin, static_cast<std::size_t>(at_ - begin)};
        ++at_;
        return true;
    }

    // {"name": …}: `member(name)` reads each value, and none of a name that it does not know.
    template <class Member>
    bool object(const Member& member)
    {
        if (!take('{')) return false;
        if (take('}')) return true;
        do {
            std::string_view found;
            if (!name(found) || !take(':') || !member(found)) return false;
        } while (take(','));
        return take('}');
    }

    template <class Entry>
    bool list(const Entry& entry)
    {
        if (!take('[')) return false;
        if (take(']')) return true;
        do {
            if (!entry()) return false;
        } while (take(','));
        return take(']');
    }

private:
    void skip_blanks()
    {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'))
            ++at_;
    }
    // As JSON has them: a sign only when negative, then a digit, no zeros in front of others, a
    // digit behind the point.
    bool begins_number()
    {
        skip_blanks();
        const auto* look = at_;
        if (look != end_ && *look == '-') ++look;
        if (look == end_ || !is_digit(*look)) return false;
        if (*look == '0' && look + 1 != end_ && is_digit(look[1])) return false;
        while (look != end_ && is_digit(*look))
            ++look;
        return look == end_ || *look != '.' || (look + 1 != end_ && is_digit(look[1]));
    }

    const char* at_;
    const char* end_;
};

constexpr std::size_t usual_point = 70;  // bytes

struct MetricFields {
    std::string_view key;
    double value = 0;
    std::int64_t time = -1;
    std::int64_t step = 0;
    bool has_value = false;
};

bool take_metric_field(Scanner& scanner, std::string_view name, MetricFields& fields)
{
    if (name == "key") return scanner.text(fields.key);
    if (name == "value") return fields.has_value = scanner.number(fields.value);
    if (name == "timestamp") return scanner.integer(fields.time);
    if (name == "step") return scanner.integer(fields.step);
    return false;
}

// False when it is not complete, or its key none. A key is judged when it comes first.
bool add_point(const MetricFields& fields, store::PointsByKey& points)
{
    if (!fields.has_value || fields.time < 0 || fields.key.empty()) return false;
    if (!points.has(fields.key) && (fields.key.size() > limits::key || !is_key(fields.key)))
        return false;
    points.add(fields.key, fields.value, fields.step, fields.time);
    return true;
}

struct RunName {
    std::string_view id;
    std::string_view uuid;

    [[nodiscard]] std::string_view text() const { return id.empty() ? uuid : id; }
};

bool take_run_field(Scanner& scanner, std::string_view name, RunName& run)
{
    if (name == "run_id") return scanner.text(run.id);
    if (name == "run_uuid") return scanner.text(run.uuid);
    return false;
}

bool take_pair(Scanner& scanner, std::size_t longest, store::Pairs& pairs)
{
    std::string_view key;
    std::string_view value;
    const bool read = scanner.object([&](std::string_view name) {
        if (name == "key") return scanner.text(key);
        return name == "value" && scanner.text(value);
    });
    if (!read || key.empty() || key.size() > limits::key || !is_key(key)) return false;
    if (value.size() > longest) return false;
    pairs.emplace_back(key, value);
    return true;
}

bool has_twins(const store::Pairs& pairs)
{
    std::vector<std::string_view> keys;
    keys.reserve(pairs.size());
    for (const auto& [key, value] : pairs)
        keys.emplace_back(key);
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

bool is_run_id(std::string_view text)
{
    return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
               return is_digit(c) || (c >= 'a' && c <= 'f');
           });
}

}  // namespace

double clamped(double value)
{
    if (!std::isinf(value)) return value;
    constexpr auto largest = std::numeric_limits<double>::max();
    return value > 0 ? largest : -largest;
}

std::optional<LogBody> scan_metric(std::string_view text)
{
    Scanner scanner(text);
    RunName run;
    MetricFields metric;
    const bool read = scanner.object([&](std::string_view name) {
        return name.starts_with("run_") ? take_run_field(scanner, name, run)
                                        : take_metric_field(scanner, name, metric);
    });
    if (!read || !scanner.at_end() || !is_run_id(run.text())) return std::nullopt;
    LogBody body{std::string(run.text()), {}};
    if (!add_point(metric, body.logged.points)) return std::nullopt;
    return body;
}

ScannedBatch scan_batch(std::string_view text)
{
    ScannedBatch scanned;
    Scanner scanner(text);
    RunName run;
    LogBody body;
    auto& logged = body.logged;
    logged.points.expect(text.size() / usual_point);
    const auto take_metric = [&] {
        if (logged.points.size() == limits::batch_metrics) {
            scanned.too_many_metrics = true;
            return false;
        }
        MetricFields metric;
        const bool read = scanner.object(
            [&](std::string_view name) { return take_metric_field(scanner, name, metric); });
        return read && add_point(metric, logged.points);
    };
    const bool read = scanner.object([&](std::string_view name) {
        if (name == "metrics") return logged.points.empty() && scanner.list(take_metric);
        if (name == "params") {
            return logged.params.empty() && scanner.list([&] {
                return take_pair(scanner, limits::param_value, logged.params);
            });
        }
        if (name == "tags") {
            return logged.tags.empty() &&
                   scanner.list([&] { return take_pair(scanner, limits::tag_value, logged.tags); });
        }
        return take_run_field(scanner, name, run);
    });
    const auto all = logged.points.size() + logged.params.size() + logged.tags.size();
    const bool fits = logged.params.size() <= limits::batch_params &&
                      logged.tags.size() <= limits::batch_tags && all <= limits::batch_all &&
                      !has_twins(logged.params);
    if (!read || !scanner.at_end() || !fits || !is_run_id(run.text())) return scanned;
    body.run_id = run.text();
    scanned.body = std::move(body);
    return scanned;
}

}  // namespace ponk::api::mlflow
