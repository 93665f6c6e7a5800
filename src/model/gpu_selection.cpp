// SPDX-License-Identifier: Apache-2.0
#include "model/gpu_selection.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace ponk::model {

namespace {

constexpr std::int64_t most_gpus = 4096;
constexpr std::size_t longest_name = 200;

tl::unexpected<Error> no_selection(std::string_view text, const std::string& why)
{
    return tl::unexpected(Error(
        ErrorKind::invalid_argument,
        "'" + printable(text.substr(0, longest_name)) + "' is not a selection of GPUs: " + why,
        "Write a number, 'all', 'none', or UUIDs as 'ponk gpu list' shows them, separated by "
        "commas (the beginning of a UUID is enough; '0,1' and '0,' are indexes in that list)."));
}

bool is_name(std::string_view word)
{
    return !word.empty() && word.size() <= longest_name &&
           std::all_of(word.begin(), word.end(), [](char letter) {
               const auto byte = static_cast<unsigned char>(letter);
               return byte > 0x20 && byte < 0x7f && letter != '\'' && letter != '"';
           });
}

bool is_one_of(std::string_view word, const auto& words)
{
    return std::ranges::any_of(words,
                               [&](const auto* other) { return same_ignoring_case(word, other); });
}

// Why a single word is surely no name of a GPU; empty where it may be one. Any word can be the
// beginning of a name, so only what is something else counts.
std::string why_no_name(std::string_view word)
{
    static constexpr std::array switches{"true", "false", "yes", "no", "on", "off"};
    static constexpr std::array numbers{
        "one", "two", "three", "four", "five", "six", "seven", "eight"};
    if (is_one_of(word, switches)) return "it has neither a number nor a list";
    if (is_one_of(word, numbers)) return "write the number in digits";
    const bool is_number = word.find_first_not_of("-.0123456789") == std::string_view::npos;
    // A UUID without its prefix begins with a digit, too, and has hexadecimal ones only.
    const bool is_amount =
        word.front() >= '0' && word.front() <= '9' &&
        word.find_first_not_of("-0123456789abcdefABCDEF") != std::string_view::npos;
    if (is_number || is_amount) return "the number of GPUs must be a whole number";
    const auto near = nearest(word, {"all", "none"});
    return near ? fmt::format("did you mean '{}'?", *near) : std::string();
}

// A single name that would be read as something else ("0", "all", "0-7") stays one by its comma.
bool needs_comma(const std::vector<std::string>& names)
{
    if (names.size() != 1) return false;
    const auto alone = parse_gpu_selection(names.front());
    return !alone || alone->kind != GpuSelection::Kind::named;
}

}  // namespace

Result<GpuSelection> parse_gpu_selection(std::string_view text)
{
    const auto word = trim(text);
    if (same_ignoring_case(word, "none")) return GpuSelection{};
    if (same_ignoring_case(word, "all"))
        return GpuSelection{.kind = GpuSelection::Kind::all, .count = 0, .uuids = {}};
    if (word.empty()) return no_selection(text, "it is empty");
    if (const auto count = parse_integer(word)) {
        if (*count < 0 || *count > most_gpus)
            return no_selection(text, fmt::format("a number is 0 to {}", most_gpus));
        if (*count == 0) return GpuSelection{};
        return GpuSelection{
            .kind = GpuSelection::Kind::count, .count = static_cast<unsigned>(*count), .uuids = {}};
    }
    if (word.find(',') == std::string_view::npos) {
        if (const auto why = why_no_name(word); !why.empty()) return no_selection(text, why);
    }
    GpuSelection selection{.kind = GpuSelection::Kind::named, .count = 0, .uuids = {}};
    // "0," is the GPU in place 0, while "0" is a number of GPUs.
    const auto names = word.back() == ',' ? word.substr(0, word.size() - 1) : word;
    for (const auto& part : split(names, ',')) {
        const auto name = trim(part);
        if (!is_name(name))
            return no_selection(text, "'" + printable(name.substr(0, 60)) + "' is not a name");
        selection.uuids.emplace_back(name);
    }
    if (selection.uuids.size() > static_cast<std::size_t>(most_gpus))
        return no_selection(text, "too many names");
    return selection;
}

std::string to_text(const GpuSelection& selection)
{
    switch (selection.kind) {
    case GpuSelection::Kind::none:
        return "none";
    case GpuSelection::Kind::all:
        return "all";
    case GpuSelection::Kind::count:
        return std::to_string(selection.count);
    case GpuSelection::Kind::named:
        return join(selection.uuids, ",") + (needs_comma(selection.uuids) ? "," : "");
    }
    return "none";
}

}  // namespace ponk::model
