// SPDX-License-Identifier: Apache-2.0
#include "output/render.hpp"

#include "base/text.hpp"
#include "output/formats.hpp"

#include <array>
#include <utility>

namespace ponk::output {

namespace {

constexpr std::array<std::pair<std::string_view, Format>, 5> formats{{
    {"table", Format::table},
    {"json", Format::json},
    {"jsonc", Format::jsonc},
    {"tsv", Format::tsv},
    {"yaml", Format::yaml},
}};

}  // namespace

Result<Format> parse_format(std::string_view name)
{
    std::vector<std::string> names;
    for (const auto& [text, format] : formats) {
        if (same_ignoring_case(text, name)) return format;
        names.emplace_back(text);
    }
    const auto near = nearest(name, names);
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                fmt::format("'{}' is not an output format", printable(name)),
                                near ? fmt::format("Did you mean '{}'?", *near)
                                     : fmt::format("The formats are {}.", join(names, ", "))));
}

std::string
render(const Json& document, Format format, const Terminal& terminal, const Columns& columns)
{
    switch (format) {
    case Format::table:
        return render_table(document, terminal, columns);
    case Format::jsonc:
        if (terminal.colour) return render_coloured_json(document);
        break;
    case Format::tsv:
        return render_tsv(document, columns);
    case Format::yaml:
        return render_yaml(document);
    case Format::json:
        break;
    }
    return to_json(document, JsonStyle::pretty) + '\n';
}

}  // namespace ponk::output
