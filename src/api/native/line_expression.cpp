// SPDX-License-Identifier: Apache-2.0
#include "api/native/line_expression.hpp"

#include "base/text.hpp"

#include <re2/re2.h>
#include <utility>

namespace ponk::api {

namespace {

// Makes '^' and '$' the ends of a line.
const std::string lines_end = "(?m)";

}  // namespace

LineExpression::LineExpression(std::shared_ptr<const re2::RE2> expression)
    : expression_(std::move(expression))
{
}

Result<LineExpression> LineExpression::parse(const std::string& text, LetterCase letters)
{
    re2::RE2::Options options;
    options.set_case_sensitive(letters == LetterCase::exact);
    options.set_never_nl(true);
    options.set_never_capture(true);
    options.set_log_errors(false);
    auto expression = std::make_shared<const re2::RE2>(lines_end + text, options);
    if (expression->ok()) return LineExpression(std::move(expression));
    auto why = expression->error();
    if (const auto ours = why.find(lines_end); ours != std::string::npos)
        why.erase(ours, lines_end.size());
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'{}' is not a regular expression: {}", printable(text), printable(why)),
              "The syntax is that of RE2. Back references and look-around are not part of it; a "
              "'\\' before a sign takes it as it is."));
}

std::size_t LineExpression::find(std::string_view lines, std::size_t from) const
{
    re2::StringPiece found;
    const re2::StringPiece all(lines.data(), lines.size());
    if (!expression_->Match(all, from, lines.size(), re2::RE2::UNANCHORED, &found, 1))
        return std::string_view::npos;
    const auto at = static_cast<std::size_t>(found.data() - lines.data());
    // Behind the end of the last line there is no other one.
    const bool behind = at == lines.size() && (lines.empty() || lines.back() == '\n');
    return behind ? std::string_view::npos : at;
}

}  // namespace ponk::api
