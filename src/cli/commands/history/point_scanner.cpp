// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/point_scanner.hpp"

namespace ponk::cli {
namespace {

// {"metrics": {KEY: {…, "points": [[step, time, value], …]}}}
constexpr std::size_t keys_depth = 2;
constexpr std::size_t point_depth = 5;

}  // namespace

Result<> PointScanner::structural(char c)
{
    if (c == '{' || c == '[') {
        ++depth_;
        begun_ = true;
        if (depth_ == point_depth) held_ = "[";
        return {};
    }
    if (depth_ == 0) return fail(ErrorKind::damaged, "the metrics are not valid JSON");
    --depth_;
    if (depth_ != point_depth - 1) return {};
    held_ += ']';
    const Json point = TRY(parse_json(held_));
    if (!point.is_array() || point.as_array().size() < 3)
        return fail(ErrorKind::damaged, "a point of metric '{}' is incomplete", key_);
    return take_(key_, point.as_array());
}

Result<> PointScanner::feed(std::string_view bytes)
{
    for (const char c : bytes) {
        const bool kept = depth_ == point_depth || (depth_ == keys_depth && in_text_);
        if (in_text_) {
            if (kept) held_ += c;
            const bool ends = c == '"' && !escaped_;
            escaped_ = c == '\\' && !escaped_;
            if (!ends) continue;
            in_text_ = false;
            if (depth_ != keys_depth) continue;
            const Json key = TRY(parse_json(held_));
            key_ = key.is_string() ? key.as_string() : "";
        } else if (c == '"') {
            in_text_ = true;
            if (depth_ == keys_depth) held_ = "\"";
            if (depth_ == point_depth) held_ += c;
        } else if (c == '{' || c == '[' || c == '}' || c == ']') {
            TRY(structural(c));
        } else if (kept) {
            held_ += c;
        }
    }
    return {};
}

Result<> PointScanner::finish() const
{
    if (!begun_ || depth_ != 0) return fail(ErrorKind::damaged, "the metrics are cut off");
    return {};
}

}  // namespace ponk::cli
