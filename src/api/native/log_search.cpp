// SPDX-License-Identifier: Apache-2.0
// Lines of a log that have a text, or a regular expression.
#include "api/native/handlers.hpp"
#include "api/native/line_search.hpp"
#include "api/native/log_source.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"

#include <fmt/format.h>

namespace ponk::api {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
constexpr std::size_t most_lines = 10'000;
constexpr std::size_t longest_text = 1000;

// "OFFSET:LINE:BEGIN", what follows is searched next: numbers of bytes, and of lines before.
Result<LinePlace> place_of(const std::string& text)
{
    if (text.empty()) return LinePlace();
    const auto parts = split(text, ':');
    LinePlace place;
    std::uint64_t* const numbers[] = {&place.offset, &place.line, &place.begin};
    bool right = parts.size() == 3;
    for (std::size_t at = 0; right && at < 3; ++at) {
        const auto number = parse_integer(parts[at]);
        right = number && *number >= 0;
        if (right) *numbers[at] = static_cast<std::uint64_t>(*number);
    }
    if (!right || place.begin > place.offset) {
        return fail(ErrorKind::invalid_argument,
                    "'cursor' must be what the answer before it gave, not '{}'",
                    printable(text));
    }
    return place;
}

std::string cursor_of(const LinePlace& place)
{
    return fmt::format("{}:{}:{}", place.offset, place.line, place.begin);
}

}  // namespace

Result<net::Response> search_log(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    const auto text = call.request.parameter("q").value_or("");
    if (text.empty() || text.size() > longest_text || text.find('\n') != std::string::npos) {
        return fail(ErrorKind::invalid_argument,
                    "'q' must be a text of 1 to {} bytes in one line",
                    longest_text);
    }
    const auto place = TRY(place_of(call.request.parameter("cursor").value_or("")));
    const auto letters = call.request.parameter("case").value_or("") == "1"
                             ? LineSearch::Case::exact
                             : LineSearch::Case::folded;
    const bool expression = call.request.parameter("regex").value_or("") == "1";
    auto search = expression
                      ? LineSearch(TRY(LineExpression::parse(text, letters)), place, most_lines)
                      : LineSearch(text, letters, place, most_lines);
    const auto source = TRY(log_bytes(services, id, place.offset));
    std::string piece;
    std::uint64_t looked = 0;
    bool at_end = false;
    while (!at_end && !search.is_full() && looked < most_bytes) {
        TRY(check_work());
        piece.clear();
        const auto step = source->next(piece);
        if (step == net::BodySource::Step::broken)
            return fail(ErrorKind::internal, "the log of the run cannot be read");
        looked += piece.size();
        search.feed(piece);
        at_end = step == net::BodySource::Step::end;
    }
    const auto next = at_end ? search.finish() : search.place();
    JsonArray lines;
    TRY(charge_answer(search.found().size() * 40));
    for (const auto& found : search.found()) {
        lines.emplace_back(JsonObject{{"line", static_cast<std::int64_t>(found.line + 1)},
                                      {"begin", static_cast<std::int64_t>(found.begin)},
                                      {"offset", static_cast<std::int64_t>(found.offset)}});
    }
    return net::json_response(JsonObject{{"lines", std::move(lines)},
                                         {"looked", static_cast<std::int64_t>(next.offset)},
                                         {"cursor", cursor_of(next)},
                                         {"at_end", at_end && !search.is_full()}});
}

}  // namespace ponk::api
