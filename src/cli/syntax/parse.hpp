// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/syntax/command.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::cli {

// A command line that has been understood: which command, its options and its words.
class Invocation {
public:
    const Command* command = nullptr;  // null: help for `path`
    std::string path;                  // as typed, without "ml": "submit"
    bool help = false;

    // The option's last value.
    [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
    [[nodiscard]] std::string text(std::string_view name) const { return value(name).value_or(""); }
    [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return value(name).has_value(); }
    // Overwrites the option's values, which were a secret; it counts as given with nothing in it.
    void forget(std::string_view name) const;

    [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
    // The positional number `index`, or nothing.
    [[nodiscard]] std::optional<std::string> word(std::size_t index) const;
    // The words follow a "--".
    [[nodiscard]] bool after_dashes() const { return after_dashes_; }
    // What follows the script.
    [[nodiscard]] const std::vector<std::string>& rest() const { return rest_; }

private:
    friend class Parser;
    mutable std::vector<std::pair<const Option*, std::string>> options_;  // see forget()
    std::vector<std::string> words_;
    std::vector<std::string> rest_;
    bool after_dashes_ = false;
};

// `words` is argv without the program's name. The error is the text for the last line; it is of
// kind `unavailable` when the command is one of a later version.
Result<Invocation> parse(const std::vector<std::string>& words);
// That error with its exit code: 64, or 68 for a command of a later version.
Failure failure_of_parse(const Error& error);

// "--password" in "--password=x", "-w" in "-wx": where values of this option are in argv.
// Calls `found(index, offset)` for each. Works on any words, well-formed or not.
template <class Found>
void find_values(const std::vector<std::string>& words,
                 std::string_view name,
                 std::string_view brief,
                 const Found& found)
{
    const std::string full = "--" + std::string(name);
    const std::string dash = "-" + std::string(brief);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == full || word == dash) {
            if (i + 1 < words.size()) found(i + 1, std::size_t{0});
        } else if (word.compare(0, full.size() + 1, full + "=") == 0) {
            found(i, full.size() + 1);
        } else if (word.size() > dash.size() && word.compare(0, dash.size(), dash) == 0) {
            found(i, dash.size());
        }
    }
}

// The command or group that `path` (words joined by a blank) names, aliases included.
const Command* find_command(std::string_view path);
const Group* find_group(std::string_view path);

}  // namespace ponk::cli
