// SPDX-License-Identifier: Apache-2.0
// Many curves in one binary answer: docs/design/curves.md.
#include "api/native/handlers.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace ponk::api {

namespace {

static_assert(std::endian::native == std::endian::little, "columns are copied as they are");

constexpr std::size_t most_names = 100;
constexpr std::int64_t least_width = 16;
constexpr std::int64_t most_width = 4096;
constexpr double most_smoothing = 0.9999;

struct Wanted {
    std::vector<RunId> runs;
    std::vector<std::string> keys;
    store::PixelAxis axis = store::PixelAxis::step;
    std::optional<std::int64_t> from;
    std::optional<std::int64_t> to;
    std::size_t width = 800;
    double smooth = 0;
};

Result<std::vector<std::string>> names_of(const Json& body, const char* name)
{
    const auto& list = body[name];
    if (!list.is_array() || list.as_array().empty() || list.as_array().size() > most_names)
        return fail(ErrorKind::invalid_argument, "'{}' must be 1 to {} texts", name, most_names);
    std::vector<std::string> names;
    for (const auto& entry : list.as_array()) {
        if (!entry.is_string())
            return fail(ErrorKind::invalid_argument, "'{}' must be texts", name);
        names.push_back(entry.as_string());
    }
    return names;
}

// Browsers have whole numbers up to 2^53 only: larger ones come as texts.
Result<std::optional<std::int64_t>> end_of(const Json& body, const char* name)
{
    const auto& value = body[name];
    if (value.is_null()) return std::optional<std::int64_t>();
    if (value.is_integer()) return std::optional(value.as_integer());
    if (value.is_string()) {
        if (const auto number = parse_integer(value.as_string())) return std::optional(*number);
    }
    return fail(ErrorKind::invalid_argument, "'{}' must be a whole number", name);
}

Result<store::PixelAxis> axis_of(const std::string& text)
{
    if (text == "step") return store::PixelAxis::step;
    if (text == "relative") return store::PixelAxis::relative;
    if (text == "wall") return store::PixelAxis::wall;
    return fail(ErrorKind::invalid_argument, "'x' must be step, relative or wall");
}

Result<Wanted> wanted_of(const Services& services, const Json& body)
{
    Wanted wanted;
    for (const auto& run : TRY(names_of(body, "runs")))
        wanted.runs.push_back(TRY(services.history().resolve_run(run, "")));
    wanted.keys = TRY(names_of(body, "keys"));
    wanted.axis = TRY(axis_of(body.text("x", "step")));
    wanted.from = TRY(end_of(body, "from"));
    wanted.to = TRY(end_of(body, "to"));
    const auto width = body.integer("width", 800);
    if (width < least_width || width > most_width)
        return fail(
            ErrorKind::invalid_argument, "'width' must be {} to {}", least_width, most_width);
    wanted.width = static_cast<std::size_t>(width);
    const auto& smooth = body["smooth"];
    wanted.smooth = smooth.is_number() ? smooth.as_double() : 0;
    if ((!smooth.is_null() && !smooth.is_number()) ||
        !(wanted.smooth >= 0 && wanted.smooth <= most_smoothing))
        return fail(ErrorKind::invalid_argument, "'smooth' must be 0 to {}", most_smoothing);
    if (wanted.from && wanted.to && *wanted.from > *wanted.to)
        return fail(ErrorKind::invalid_argument, "'from' must not be behind 'to'");
    return wanted;
}

// The part that is shown: as asked, else from the first to the last point of all curves.
Result<store::PixelWindow> window_of(const Services& services, const Wanted& wanted)
{
    store::PixelWindow window{wanted.from.value_or(std::numeric_limits<std::int64_t>::max()),
                              wanted.to.value_or(std::numeric_limits<std::int64_t>::min()),
                              wanted.width};
    if (!wanted.from || !wanted.to) {
        for (const auto& run : wanted.runs) {
            for (const auto& key : wanted.keys) {
                const auto ends = TRY(services.history().metric_ends(run, key, wanted.axis));
                if (!ends) continue;
                if (!wanted.from) window.from = std::min(window.from, ends->from);
                if (!wanted.to) window.to = std::max(window.to, ends->to);
            }
        }
    }
    // Nothing is there, or all of it is outside.
    if (window.from > window.to) {
        if (wanted.from) {
            window.to = window.from;
        } else {
            window.from = wanted.to.value_or(0);
            window.to = window.from;
        }
    }
    return window;
}

template <class Number>
void append(std::string& out, const std::vector<Number>& numbers)
{
    static_assert(sizeof(Number) == 8);
    if (numbers.empty()) return;
    out.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
}

Json number_json(double value)
{
    if (std::isfinite(value)) return Json(value);
    return Json(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

void append_word(std::string& out, std::uint32_t number)
{
    for (unsigned shift = 0; shift < 32; shift += 8)
        out += static_cast<char>(number >> shift & 0xFFU);
}

JsonObject
curve_json(const RunId& run, const std::string& key, const store::PixelRows& rows, std::size_t at)
{
    const bool any = rows.count > rows.nonfinite;
    JsonArray columns{"x", "y"};
    if (!rows.smooth.empty()) columns.emplace_back("smooth");
    return JsonObject{{"run", run.text()},
                      {"key", key},
                      {"count", rows.count},
                      {"nonfinite", rows.nonfinite},
                      {"rows", static_cast<std::int64_t>(rows.x.size())},
                      {"at", static_cast<std::int64_t>(at)},
                      {"columns", std::move(columns)},
                      {"min", any ? Json(rows.lowest) : Json()},
                      {"max", any ? Json(rows.highest) : Json()},
                      {"last", rows.count > 0 ? number_json(rows.last) : Json()}};
}

// What an answer may take whose first curve takes so much: growing it piece by piece would copy it
// again and again. Memory that is not used is not there.
std::size_t most_of(const Wanted& wanted, std::size_t first)
{
    const auto curves = wanted.runs.size() * wanted.keys.size();
    return std::min(curves * (first + first / 16 + 400), std::size_t{128} << 20U);
}

}  // namespace

Result<net::Response> show_curves(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto wanted = TRY(wanted_of(services, body));
    const auto window = TRY(window_of(services, wanted));
    JsonArray curves;
    std::string columns;
    for (const auto& run : wanted.runs) {
        for (const auto& key : wanted.keys) {
            TRY(check_work());
            const auto rows =
                TRY(services.history().metric_pixels(run, key, wanted.axis, window, wanted.smooth));
            if (!rows) continue;
            const auto size = rows->x.size() * (rows->smooth.empty() ? 16 : 24);
            TRY(charge_answer(size + 300));
            if (curves.empty()) columns.reserve(most_of(wanted, size));
            curves.emplace_back(curve_json(run, key, *rows, columns.size()));
            append(columns, rows->x);
            append(columns, rows->y);
            append(columns, rows->smooth);
        }
    }
    auto head = to_json(JsonObject{{"x", body.text("x", "step")},
                                   {"from", std::to_string(window.from)},
                                   {"to", std::to_string(window.to)},
                                   {"width", static_cast<std::int64_t>(window.width)},
                                   {"smooth", wanted.smooth},
                                   {"curves", std::move(curves)}});
    head.resize((head.size() + 7) / 8 * 8, ' ');
    net::Response response;
    response.type = "application/octet-stream";
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    std::string begin = "PNKC";
    append_word(begin, 1);
    append_word(begin, static_cast<std::uint32_t>(head.size()));
    append_word(begin, 0);
    response.body = std::move(columns);
    response.body.insert(0, begin + head);
    return response;
}

}  // namespace ponk::api
