// SPDX-License-Identifier: Apache-2.0
#include "importer/mlflow_series.hpp"

#include "base/text.hpp"

#include <charconv>

namespace ponk::importer {

namespace {

constexpr std::uint64_t largest_series = std::uint64_t{2} << 30;

template <class Number>
bool parse_number(std::string_view text, Number& number)
{
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> words_of(std::string_view line)
{
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const auto space = line.find(' ');
        words.push_back(line.substr(0, space));
        line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
    }
    return words;
}

}  // namespace

Result<> read_series(const StoreFiles& files, const std::string& path, const OnMetric& on_line)
{
    const auto text = TRY(files.read(path, largest_series));
    std::size_t number = 0;
    for (std::string_view left = text; !left.empty();) {
        ++number;
        const auto end = left.find('\n');
        auto line = left.substr(0, end);
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty()) continue;
        const auto words = words_of(line);
        MetricLine read;
        const auto wrong = [&](std::string_view word, std::string_view wanted) {
            return fail(ErrorKind::invalid_argument,
                        "{}:{}:{}: '{}' is not a {}",
                        files.shown(path),
                        number,
                        word.data() - line.data() + 1,
                        printable(word.substr(0, 50)),
                        wanted);
        };
        if (!parse_number(words[0], read.time)) return wrong(words[0], "time in milliseconds");
        if (words.size() < 2) return wrong(line.substr(line.size()), "value");
        if (!parse_number(words[1], read.value)) return wrong(words[1], "number");
        if (words.size() > 2 && !parse_number(words[2], read.step)) return wrong(words[2], "step");
        if (words.size() > 3) read.rest.assign(words.begin() + 3, words.end());
        TRY(on_line(read));
    }
    return {};
}

}  // namespace ponk::importer
