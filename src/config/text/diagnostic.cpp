// SPDX-License-Identifier: Apache-2.0
#include "config/text/diagnostic.hpp"

#include <algorithm>
#include <tuple>

namespace ponk::config {

const char* to_string(Severity severity)
{
    switch (severity) {
    case Severity::error:
        return "error";
    case Severity::warning:
        return "warning";
    case Severity::notice:
        return "notice";
    }
    return "error";
}

bool has_errors(const Diagnostics& diagnostics)
{
    return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
        return diagnostic.severity == Severity::error;
    });
}

void sort_and_unify(Diagnostics& diagnostics)
{
    const auto key = [](const Diagnostic& d) {
        return std::tie(d.file, d.line, d.column, d.severity, d.code, d.message);
    };
    std::stable_sort(diagnostics.begin(),
                     diagnostics.end(),
                     [&](const auto& left, const auto& right) { return key(left) < key(right); });
    const auto end =
        std::unique(diagnostics.begin(),
                    diagnostics.end(),
                    [&](const auto& left, const auto& right) { return key(left) == key(right); });
    diagnostics.erase(end, diagnostics.end());
}

namespace {

std::string place_text(const Diagnostic& diagnostic)
{
    if (diagnostic.line == 0) return diagnostic.file;
    return fmt::format("{}:{}:{}", diagnostic.file, diagnostic.line, diagnostic.column);
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic)
{
    return fmt::format("{}: {}: {} [{}]",
                       place_text(diagnostic),
                       to_string(diagnostic.severity),
                       diagnostic.message,
                       diagnostic.code);
}

Json to_json(const Diagnostic& diagnostic)
{
    const bool placed = diagnostic.line != 0;
    return JsonObject{
        {"file", diagnostic.file},
        {"line", placed ? Json(diagnostic.line) : Json()},
        {"column", placed ? Json(diagnostic.column) : Json()},
        {"severity", to_string(diagnostic.severity)},
        {"code", diagnostic.code},
        {"message", diagnostic.message},
        {"hint", diagnostic.hint},
    };
}

Json to_json(const Diagnostics& diagnostics)
{
    JsonArray array;
    for (const auto& diagnostic : diagnostics)
        array.push_back(to_json(diagnostic));
    return array;
}

Error to_error(const Diagnostics& diagnostics)
{
    std::string message;
    std::string hint;
    for (const auto& diagnostic : diagnostics) {
        if (diagnostic.severity != Severity::error) continue;
        if (!message.empty()) message += '\n';
        message += place_text(diagnostic) + ": " + diagnostic.message;
        if (hint.empty()) hint = diagnostic.hint;
    }
    return {ErrorKind::invalid_argument, std::move(message), std::move(hint)};
}

void Report::add(
    Severity severity, Place place, std::string_view code, std::string message, std::string hint)
{
    diagnostics_.push_back({file_,
                            place.line,
                            place.column,
                            severity,
                            std::string(code),
                            std::move(message),
                            std::move(hint)});
}

void Report::error(Place place, std::string_view code, std::string message, std::string hint)
{
    add(Severity::error, place, code, std::move(message), std::move(hint));
}

void Report::warning(Place place, std::string_view code, std::string message, std::string hint)
{
    add(Severity::warning, place, code, std::move(message), std::move(hint));
}

void Report::notice(Place place, std::string_view code, std::string message, std::string hint)
{
    add(Severity::notice, place, code, std::move(message), std::move(hint));
}

}  // namespace ponk::config
