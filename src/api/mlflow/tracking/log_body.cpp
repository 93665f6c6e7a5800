// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking/log_body.hpp"

#include "api/mlflow/limits.hpp"
#include "base/work_count.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace ponk::api::mlflow {

namespace {

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// ASCII that stands in a JSON text as it is.
constexpr auto plain = [] {
    std::array<bool, 256> is{};
    for (std::size_t c = 0x20; c < 0x7f; ++c)
        is[c] = c != '"' && c != '\\';
    return is;
}();

// Eight digits at once, where there are eight: a time has thirteen.
bool take_eight_digits(const char*& at, const char* end, std::uint64_t& out)
{
    if (std::endian::native != std::endian::little || end - at < 8) return false;
    std::uint64_t text = 0;
    std::memcpy(&text, at, sizeof text);
    constexpr std::uint64_t high = 0xf0f0f0f0f0f0f0f0U;
    if ((text & high) != 0x3030303030303030U ||
        ((text + 0x0606060606060606U) & high) != 0x3030303030303030U)
        return false;
    text &= 0x0f0f0f0f0f0f0f0fU;
    text = text * 10 + (text >> 8U);  // pairs, in every second byte
    out = ((text & 0x000000ff000000ffU) * (100 + (1'000'000ULL << 32U)) +
           ((text >> 16U) & 0x000000ff000000ffU) * (1 + (10'000ULL << 32U))) >>
          32U;
    at += 8;
    return true;
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
        while (at_ != end_ && plain[static_cast<unsigned char>(*at_)])
            ++at_;
        if (at_ == end_ || *at_ != '"') return false;
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
        const auto* stop = first;
        std::uint64_t digits = 0;
        take_eight_digits(stop, end_, digits);
        for (; stop != end_ && is_digit(*stop); ++stop)
            digits = digits * 10 + static_cast<std::uint64_t>(*stop - '0');
        const auto count = stop - first;
        // JSON has no zeros in front; what is longer may be too large.
        if (count == 0 || count > 18 || (*first == '0' && count > 1)) return false;
        if (stop != end_ && (*stop == '.' || *stop == 'e' || *stop == 'E')) return false;
        out = static_cast<std::int64_t>(digits);
        if (first != at_) out = -out;
        at_ = stop;
        return true;
    }

    // Exactly this text, and a blank behind it where there is one.
    template <std::size_t Size>
    bool literal(const char (&wanted)[Size])
    {
        constexpr auto length = Size - 1;
        if (static_cast<std::size_t>(end_ - at_) < length || std::memcmp(at_, wanted, length) != 0)
            return false;
        at_ += length;
        if (at_ != end_ && *at_ == ' ') ++at_;
        return true;
    }
    [[nodiscard]] const char* place() const { return at_; }
    void go_back_to(const char* place) { at_ = place; }

    // The rest of a name and the colon behind it.
    template <std::size_t Size>
    bool rest_of_name(const char (&rest)[Size])
    {
        constexpr auto length = Size - 1;
        if (static_cast<std::size_t>(end_ - at_) <= length || std::memcmp(at_, rest, length) != 0 ||
            at_[length] != '"')
            return false;
        at_ += length + 1;
        return take(':');
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
        return between('{', '}', [&] {
            std::string_view found;
            return name(found) && take(':') && member(found);
        });
    }

    // The same with the first letter of each name; `field(letter)` reads the rest of it and the
    // value.
    template <class Field>
    bool object_by_letter(const Field& field)
    {
        return between('{', '}', [&] { return take('"') && at_ != end_ && field(*at_++); });
    }

    template <class Entry>
    bool list(const Entry& entry)
    {
        return between('[', ']', entry);
    }

private:
    template <class Each>
    bool between(char open, char close, const Each& each)
    {
        if (!take(open)) return false;
        if (take(close)) return true;
        do {
            if (!each()) return false;
        } while (take(','));
        return take(close);
    }
    void skip_blanks()
    {
        if (at_ != end_ && *at_ > ' ') return;
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

// One of a metric's fields, each of which begins with another letter; `letter` is taken already.
bool take_metric_field(Scanner& scanner, char letter, MetricFields& fields)
{
    switch (letter) {
    case 'k':
        return scanner.rest_of_name("ey") && scanner.text(fields.key);
    case 'v':
        return scanner.rest_of_name("alue") && (fields.has_value = scanner.number(fields.value));
    case 't':
        return scanner.rest_of_name("imestamp") && scanner.integer(fields.time);
    case 's':
        return scanner.rest_of_name("tep") && scanner.integer(fields.step);
    default:
        return false;
    }
}

// As nearly all clients write a metric, with blanks or without. Takes nothing of another form.
bool take_usual_metric(Scanner& scanner, MetricFields& fields)
{
    const auto* const begin = scanner.place();
    fields.has_value =
        scanner.literal("{\"key\":") && scanner.text(fields.key) && scanner.literal(",") &&
        scanner.literal("\"value\":") && scanner.number(fields.value) && scanner.literal(",") &&
        scanner.literal("\"timestamp\":") && scanner.integer(fields.time) && scanner.literal(",") &&
        scanner.literal("\"step\":") && scanner.integer(fields.step) && scanner.literal("}");
    if (!fields.has_value) scanner.go_back_to(begin);
    return fields.has_value;
}

bool take_any_metric(Scanner& scanner, MetricFields& fields)
{
    count_work();
    fields = {};
    return scanner.object_by_letter(
        [&](char letter) { return take_metric_field(scanner, letter, fields); });
}

// False when it is not complete, or its key none. A key is judged when it comes first.
bool add_point(const MetricFields& fields, store::PointsByKey& points)
{
    if (!fields.has_value || fields.time < 0 || fields.key.empty()) return false;
    if (points.add_more(fields.key, fields.value, fields.step, fields.time)) return true;
    if (fields.key.size() > limits::key || !is_key(fields.key)) return false;
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

std::optional<LogBody> scan_metric(std::string_view text)
{
    Scanner scanner(text);
    RunName run;
    MetricFields metric;
    const bool read = scanner.object_by_letter([&](char letter) {
        if (letter != 'r') return take_metric_field(scanner, letter, metric);
        if (scanner.rest_of_name("un_id")) return scanner.text(run.id);
        return scanner.rest_of_name("un_uuid") && scanner.text(run.uuid);
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
        const bool read = take_usual_metric(scanner, metric) || take_any_metric(scanner, metric);
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
