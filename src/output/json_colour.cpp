// SPDX-License-Identifier: Apache-2.0
#include "output/formats.hpp"

#include <fmt/format.h>

#include <string_view>

namespace ponk::output {

namespace {

namespace colour {
constexpr std::string_view key = "1;34";
constexpr std::string_view text = "32";
constexpr std::string_view number = "36";
constexpr std::string_view word = "35";
}  // namespace colour

class Writer {
public:
    std::string document(const Json& value)
    {
        write(value);
        return std::move(out_) + '\n';
    }

private:
    void write(const Json& value)
    {
        switch (value.type()) {
        case Json::Type::null:
        case Json::Type::boolean:
            paint(colour::word, to_json(value));
            break;
        case Json::Type::integer:
        case Json::Type::real:
            paint(colour::number, to_json(value));
            break;
        case Json::Type::string:
            paint(colour::text, to_json(value));
            break;
        case Json::Type::array:
            group(value.as_array(), "[]", [this](const Json& item) { write(item); });
            break;
        case Json::Type::object:
            group(value.as_object(), "{}", [this](const JsonObject::Member& member) {
                paint(colour::key, to_json(Json(member.first)));
                out_ += ": ";
                write(member.second);
            });
            break;
        }
    }

    template <class Items, class Write>
    void group(const Items& items, std::string_view brackets, Write write_item)
    {
        out_ += brackets[0];
        ++depth_;
        bool first = true;
        for (const auto& item : items) {
            if (!first) out_ += ',';
            first = false;
            new_line();
            write_item(item);
        }
        --depth_;
        if (!first) new_line();
        out_ += brackets[1];
    }

    void paint(std::string_view how, std::string_view text)
    {
        fmt::format_to(std::back_inserter(out_), "\x1b[{}m{}\x1b[0m", how, text);
    }

    void new_line()
    {
        out_ += '\n';
        out_.append(depth_ * 2, ' ');
    }

    std::string out_;
    std::size_t depth_ = 0;
};

}  // namespace

std::string render_coloured_json(const Json& document)
{
    return Writer().document(document);
}

}  // namespace ponk::output
