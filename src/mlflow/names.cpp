// SPDX-License-Identifier: Apache-2.0
#include "mlflow/names.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ponk::mlflow {

namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// Characters beyond ASCII that belong to no word, in whole blocks: punctuation, signs, pictures.
constexpr std::array<Range, 26> no_words{{
    {0x80, 0xa9},       {0xab, 0xb1},     {0xb4, 0xb4},     {0xb6, 0xb8},     {0xbb, 0xbb},
    {0xbf, 0xbf},       {0xd7, 0xd7},     {0xf7, 0xf7},     {0x2000, 0x206f}, {0x20a0, 0x20cf},
    {0x2190, 0x245f},   {0x249c, 0x24e9}, {0x2500, 0x2775}, {0x2794, 0x2bff}, {0x2e00, 0x2e2e},
    {0x2e30, 0x2e7f},   {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030}, {0xd800, 0xf8ff},
    {0xfe10, 0xfe1f},   {0xfe30, 0xfe6f}, {0xff01, 0xff0f}, {0xff1a, 0xff20}, {0xfff0, 0xffff},
    {0x1f000, 0x1faff},
}};

std::uint32_t code_point(std::string_view sequence)
{
    const auto first = static_cast<unsigned char>(sequence.front());
    static constexpr std::array<unsigned char, 5> masks{0, 0x7f, 0x1f, 0x0f, 0x07};
    std::uint32_t code = first & masks.at(sequence.size());
    for (const char c : sequence.substr(1))
        code = (code << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
    return code;
}

bool is_key_character(std::string_view sequence)
{
    if (sequence.size() == 1) {
        const char c = sequence.front();
        const bool word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        return word || std::string_view("/.-: ").find(c) != std::string_view::npos;
    }
    const auto code = code_point(sequence);
    return std::none_of(no_words.begin(), no_words.end(), [code](const Range& range) {
        return code >= range.first && code <= range.last;
    });
}

// "a/b" is its own normal form, "a//b", "./a", "a/../b", "/a" and "a/" are not.
bool is_straight_path(std::string_view key)
{
    if (key.starts_with("..")) return false;
    const auto parts = split(key, '/');
    return std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
        return part.empty() || part == "." || part == "..";
    });
}

}  // namespace

std::string_view trouble_with_key(std::string_view key)
{
    for (auto rest = key; !rest.empty();) {
        const auto length = utf8_sequence(rest);
        if (length == 0 || !is_key_character(rest.substr(0, length))) {
            return "Names may only contain alphanumerics, underscores (_), dashes (-), periods "
                   "(.), spaces ( ), colon(:) and slashes (/)";
        }
        rest.remove_prefix(length);
    }
    if (!is_straight_path(key))
        return "Names may be treated as files in certain cases, and must not resolve to other "
               "names when treated as such";
    return {};
}

Result<std::string> key_of(const Fields& fields, std::string_view name, std::string_view what)
{
    auto key = TRY(fields.text(name));
    TRY(check_length(what, key, limits::key));
    if (const auto trouble = trouble_with_key(key); !trouble.empty())
        return tl::unexpected(fields.invalid(name, trouble));
    return key;
}

Result<> check_length(std::string_view what, std::string_view text, std::size_t most)
{
    if (text.size() <= most || utf8_length(text) <= most) return {};
    return fail(ErrorKind::invalid_argument,
                "'{}' exceeds the maximum length of {} characters",
                what,
                most);
}

std::string shortened(std::string text, std::size_t most)
{
    if (text.size() <= most) return text;
    std::size_t end = 0;
    for (std::size_t count = 0; count < most && end < text.size(); ++count)
        end += std::max<std::size_t>(1, utf8_sequence(std::string_view(text).substr(end)));
    text.resize(std::min(end, text.size()));
    return text;
}

Result<> check_batch(std::size_t metrics, std::size_t params, std::size_t tags)
{
    const auto check = [](std::string_view what, std::size_t count, std::size_t most) -> Result<> {
        if (count <= most) return {};
        return fail(ErrorKind::invalid_argument,
                    "A batch logging request can contain at most {} {}. Got {} {}. Please split "
                    "up them across multiple requests and try again",
                    most,
                    what,
                    count,
                    what);
    };
    TRY(check("metrics", metrics, limits::batch_metrics));
    TRY(check("params", params, limits::batch_params));
    TRY(check("tags", tags, limits::batch_tags));
    return check("metrics, params, and tags", metrics + params + tags, limits::batch_all);
}

}  // namespace ponk::mlflow
