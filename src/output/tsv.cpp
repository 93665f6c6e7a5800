// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "output/formats.hpp"
#include "output/table_layout.hpp"

namespace ponk::output {

namespace {

void append_field(std::string& out, const Json& value)
{
    if (value.is_null()) return;
    const auto text = value.is_string() ? value.as_string() : to_json(value);
    // Whatever is in it, a line stays a line and a terminal as it is.
    out += printable(text);
}

void append_line(std::string& out, const std::vector<const Json*>& fields)
{
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (i > 0) out += '\t';
        if (fields[i]) append_field(out, *fields[i]);
    }
    out += '\n';
}

}  // namespace

std::string render_tsv(const Json& document, const Columns& columns)
{
    std::string out;
    for (const auto& row : arrange(document, columns).rows)
        append_line(out, row);
    return out;
}

}  // namespace ponk::output
