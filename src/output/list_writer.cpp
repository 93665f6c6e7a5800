// SPDX-License-Identifier: Apache-2.0
#include "output/list_writer.hpp"

#include <string_view>
#include <utility>

namespace ponk::output {

namespace {

constexpr std::string_view opening = "[\n";
constexpr std::string_view closing = "\n]\n";

}  // namespace

ListWriter::ListWriter(Format format, const Terminal& terminal, Columns columns)
    : format_(format), terminal_(terminal), columns_(std::move(columns))
{
}

bool ListWriter::has_brackets() const noexcept
{
    return format_ == Format::json || format_ == Format::jsonc;
}

std::string ListWriter::add(JsonArray elements)
{
    if (elements.empty()) return {};
    auto text = render(Json(std::move(elements)), format_, terminal_, columns_);
    const bool is_first = !std::exchange(has_begun_, true);
    if (!has_brackets()) return text;
    text.resize(text.size() - closing.size());
    if (!is_first) text.replace(0, opening.size(), ",\n");
    return text;
}

std::string ListWriter::finish() const
{
    if (!has_begun_) return render(Json(JsonArray()), format_, terminal_, columns_);
    return has_brackets() ? std::string(closing) : std::string();
}

}  // namespace ponk::output
