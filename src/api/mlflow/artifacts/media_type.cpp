// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/media_type.hpp"

#include "base/text.hpp"
#include "net/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace ponk::api::mlflow {

namespace {

constexpr std::array<std::string_view, 25> texts{
    "txt",  "log",   "err",  "cfg",  "conf", "cnf",     "cf",       "ini", "properties",
    "prop", "hocon", "toml", "yaml", "yml",  "xml",     "json",     "js",  "py",
    "py3",  "csv",   "tsv",  "md",   "rst",  "mlmodel", "mlproject"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> others{{
    {"png", "image/png"},
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},
    {"webp", "image/webp"},
    {"bmp", "image/bmp"},
    {"svg", "image/svg+xml"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"html", "text/html"},
    {"htm", "text/html"},
    {"css", "text/css"},
    {"pdf", "application/pdf"},
    {"zip", "application/zip"},
    {"tar", "application/x-tar"},
    {"ipynb", "application/x-ipynb+json"},
    {"geojson", "application/geo+json"},
    {"mp3", "audio/mpeg"},
    {"wav", "audio/x-wav"},
    {"mp4", "video/mp4"},
    {"webm", "video/webm"},
    {"wasm", "application/wasm"},
}};

}  // namespace

std::string media_type(std::string_view name)
{
    const auto dot = name.rfind('.');
    const auto ending = lower(dot == std::string_view::npos ? name : name.substr(dot + 1));
    if (std::find(texts.begin(), texts.end(), ending) != texts.end()) {
        // A file called "log" has no such ending, one called "MLmodel" needs none.
        if (dot != std::string_view::npos || ending == "mlmodel" || ending == "mlproject")
            return "text/plain";
    }
    for (const auto& [known, type] : others) {
        if (known == ending && dot != std::string_view::npos) return std::string(type);
    }
    return "application/octet-stream";
}

std::string attachment(std::string_view name)
{
    std::string plain;
    bool exact = true;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool fits = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '%';
        plain += fits ? c : '_';
        exact = exact && fits;
    }
    auto text = "attachment; filename=\"" + plain + "\"";
    if (!exact) text += "; filename*=UTF-8''" + net::percent_encode(name);
    return text;
}

std::string http_date(std::int64_t wall_ms)
{
    constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> months{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::time_t seconds = wall_ms / 1000;
    std::tm parts{};
    if (::gmtime_r(&seconds, &parts) == nullptr) return {};
    return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                       days.at(static_cast<std::size_t>(parts.tm_wday)),
                       parts.tm_mday,
                       months.at(static_cast<std::size_t>(parts.tm_mon)),
                       parts.tm_year + 1900,
                       parts.tm_hour,
                       parts.tm_min,
                       parts.tm_sec);
}

}  // namespace ponk::api::mlflow
