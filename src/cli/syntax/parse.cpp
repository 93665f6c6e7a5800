// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax/parse.hpp"

#include "base/seal.hpp"
#include "base/text.hpp"
#include "cli/syntax/suggest.hpp"

#include <algorithm>

namespace ponk::cli {

std::optional<std::string> Invocation::value(std::string_view name) const
{
    std::optional<std::string> last;
    for (const auto& [option, text] : options_) {
        if (option->name == name) last = text;
    }
    return last;
}

void Invocation::forget(std::string_view name) const
{
    for (auto& [option, text] : options_) {
        if (option->name == name) wipe(text);
    }
}

std::vector<std::string> Invocation::values(std::string_view name) const
{
    std::vector<std::string> all;
    for (const auto& [option, text] : options_) {
        if (option->name == name) all.push_back(text);
    }
    return all;
}

std::optional<std::string> Invocation::word(std::size_t index) const
{
    if (index >= words_.size()) return std::nullopt;
    return words_[index];
}

const Command* find_command(std::string_view path)
{
    for (const Command* command : commands()) {
        if (command->path == path || std::ranges::count(command->aliases, path) > 0 ||
            std::ranges::count(command->old_paths, path) > 0) {
            return command;
        }
    }
    return nullptr;
}

const Group* find_group(std::string_view path)
{
    for (const Group& group : groups()) {
        if (group.name == path || std::ranges::count(group.aliases, path) > 0 ||
            std::ranges::count(group.old_names, path) > 0) {
            return &group;
        }
    }
    return nullptr;
}

namespace {

bool is_option(std::string_view word)
{
    return word.size() > 1 && word[0] == '-';
}

const Option* find_long(std::span<const Option> options, std::string_view name)
{
    const auto found = std::ranges::find(options, name, &Option::name);
    return found == options.end() ? nullptr : &*found;
}

const Option* find_brief(std::span<const Option> options, std::string_view name)
{
    for (const Option& option : options) {
        if (!option.brief.empty() && option.brief == name) return &option;
    }
    return nullptr;
}

}  // namespace

// Reads one command line, once.
class Parser {
public:
    explicit Parser(const std::vector<std::string>& words) : words_(words) {}

    Result<Invocation> run()
    {
        TRY(read_path());
        if (result_.command == nullptr) return result_;
        TRY(read_words());
        if (!result_.help) TRY(check_words());
        return result_;
    }

private:
    // Group and verb, with global options before or between them.
    Result<> read_path()
    {
        std::string path;
        std::vector<std::string> seen;
        while (next_ < words_.size()) {
            const std::string& word = words_[next_];
            if (path.empty() && (word == "--version" || word == "-V")) {
                ++next_;
                path = "version";
                result_.command = find_command(path);
                break;
            }
            if (is_option(word)) {
                if (word == "--") break;
                if (!TRY(read_option({}))) return unknown_before_command(word);
                continue;
            }
            if (word == "ml" && seen.empty() && !after_ml_) {
                after_ml_ = true;
                ++next_;
                continue;
            }
            seen.push_back(word);
            const std::string longer = path.empty() ? word : path + " " + word;
            const Command* command = find_command(longer);
            const Group* group = find_group(longer);
            if (command == nullptr && group == nullptr) {
                if (std::ranges::count(later_commands(), longer) > 0) return not_built(longer);
                return no_such(seen, path);
            }
            ++next_;
            path = group != nullptr ? std::string(group->name) : longer;
            if (command != nullptr) {
                result_.command = command;
                break;
            }
        }
        result_.path = path;
        if (result_.command == nullptr && next_ < words_.size()) {
            return fail(ErrorKind::invalid_argument, "a command is missing before '--'");
        }
        return {};
    }

    // The one error of a command line that is not the user's: its kind tells it from the others.
    [[nodiscard]] static tl::unexpected<Error> not_built(const std::string& path)
    {
        return tl::unexpected(Error(ErrorKind::unavailable,
                                    fmt::format("'ponk {}' is not supported by this version", path),
                                    path.starts_with("notebook")
                                        ? "To run a notebook as a script: 'ponk submit "
                                          "NOTEBOOK.ipynb'; its executed copy is kept."
                                        : "'ponk --help' lists the commands of this version."));
    }

    [[nodiscard]] tl::unexpected<Error> no_such(const std::vector<std::string>& seen,
                                                const std::string& group) const
    {
        std::vector<std::string> words = seen;
        for (std::size_t i = next_ + 1; i < words_.size() && !is_option(words_[i]); ++i) {
            words.push_back(words_[i]);
        }
        std::string hint = suggest_command(words);
        if (hint.empty()) {
            hint = group.empty() ? "'ponk --help' lists all commands."
                                 : fmt::format("'ponk {} --help' lists its commands.", group);
        }
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            group.empty() ? fmt::format("no command '{}'", printable(seen.back()))
                          : fmt::format("'{}' has no command '{}'", group, printable(seen.back())),
            hint));
    }

    [[nodiscard]] static tl::unexpected<Error> unknown_before_command(std::string_view word)
    {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("option '{}' comes before the command", printable(word)),
                  "Put it after the command; only global options may come first."));
    }

    Result<> read_words()
    {
        const Command& command = *result_.command;
        bool options_over = false;
        while (next_ < words_.size()) {
            const std::string& word = words_[next_];
            if (!options_over && word == "--") {
                options_over = result_.after_dashes_ = true;
                ++next_;
                continue;
            }
            if (!options_over && is_option(word)) {
                if (!TRY(read_option(command.options))) return unknown_option(word);
                const bool named = !result_.options_.empty() &&
                                   result_.options_.back().first->then == Option::Then::arguments;
                if (named) break;
                continue;
            }
            result_.words_.push_back(word);
            ++next_;
            if (command.rest == Command::Rest::untouched) break;
        }
        result_.rest_.assign(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
        next_ = words_.size();
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> unknown_option(std::string_view word) const
    {
        std::string hint = suggest_option(*result_.command, word);
        if (hint.empty()) hint = fmt::format("'ponk {} --help' lists its options.", result_.path);
        // What a script is given stands behind it.
        if (result_.command->rest == Command::Rest::untouched) {
            for (std::size_t i = next_ + 1; i < words_.size(); ++i) {
                if (!words_[i].ends_with(".py") && !words_[i].ends_with(".ipynb")) continue;
                hint = fmt::format("Arguments of the script follow it: 'ponk {} {} {} …'. {}",
                                   result_.path,
                                   shell_word(words_[i]),
                                   printable(word),
                                   hint);
                break;
            }
        }
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("'{}' has no option '{}'",
                                                result_.path,
                                                printable(word.substr(0, word.find('=')))),
                                    hint));
    }

    // Reads the option at `next_`, from `own` or the global ones; false when there is none such.
    Result<bool> read_option(std::span<const Option> own)
    {
        const std::string& word = words_[next_];
        if (word.compare(0, 2, "--") == 0) {
            const std::size_t equals = word.find('=');
            const std::string name = word.substr(2, equals == word.npos ? equals : equals - 2);
            const Option* option = find_long(own, name);
            if (option == nullptr) option = find_long(global_options(), name);
            if (option == nullptr) return false;
            std::optional<std::string> value;
            if (equals != word.npos) value = word.substr(equals + 1);
            TRY(take(*option, "--" + name, std::move(value), own));
            return true;
        }
        return read_brief(own, word);
    }

    // "-c NAME", "-cNAME", "-ap PATH", or flags together: "-au".
    Result<bool> read_brief(std::span<const Option> own, const std::string& word)
    {
        const auto find = [own](std::string_view name) {
            const Option* option = find_brief(own, name);
            return option != nullptr ? option : find_brief(global_options(), name);
        };
        const std::size_t equals = word.find('=');
        if (const Option* whole = find(std::string_view(word).substr(1))) {
            TRY(take(*whole, word, std::nullopt, own));
            return true;
        }
        if (equals != word.npos) {
            const std::string head = word.substr(0, equals);
            if (const Option* option = find(std::string_view(head).substr(1))) {
                TRY(take(*option, head, word.substr(equals + 1), own));
                return true;
            }
        }
        std::vector<const Option*> flags;
        for (std::size_t at = 1; at < word.size(); ++at) {
            const Option* option = find(std::string_view(word).substr(at, 1));
            if (option == nullptr) return false;
            if (!option->value.empty()) {
                for (const Option* flag : flags)
                    TRY(record(*flag, ""));
                const std::string name = std::string("-") + word[at];
                std::optional<std::string> value;
                if (at + 1 < word.size()) value = word.substr(at + 1);
                TRY(take(*option, name, std::move(value), own));
                return true;
            }
            flags.push_back(option);
        }
        for (const Option* flag : flags)
            TRY(record(*flag, ""));
        ++next_;
        return true;
    }

    Result<> take(const Option& option,
                  const std::string& shown,
                  std::optional<std::string> value,
                  std::span<const Option> own)
    {
        ++next_;
        if (option.value.empty()) {
            if (value) {
                return fail(ErrorKind::invalid_argument, "option '{}' takes no value", shown);
            }
            return record(option, "");
        }
        if (!value) {
            if (next_ >= words_.size() || looks_like_option(words_[next_], own)) {
                return tl::unexpected(
                    Error(ErrorKind::invalid_argument,
                          fmt::format("option '{}' needs a value ({})", shown, option.value),
                          fmt::format("If the value looks like an option, write '--{}=VALUE'.",
                                      option.name)));
            }
            value = words_[next_++];
        }
        return record(option, std::move(*value));
    }

    static bool looks_like_option(const std::string& word, std::span<const Option> own)
    {
        if (word == "--") return true;
        if (!is_option(word)) return false;
        if (word.compare(0, 2, "--") == 0) {
            const std::string name = word.substr(2, word.find('=') - 2);
            return find_long(own, name) != nullptr || find_long(global_options(), name) != nullptr;
        }
        const std::string_view name = std::string_view(word).substr(1);
        return find_brief(own, name) != nullptr || find_brief(global_options(), name) != nullptr;
    }

    Result<> record(const Option& option, std::string value)
    {
        if (option.name == "help") {
            result_.help = true;
            return {};
        }
        if (!option.choices.empty()) {
            const auto found = std::ranges::find_if(option.choices, [&](std::string_view choice) {
                return same_ignoring_case(choice, value);
            });
            if (found != option.choices.end()) value = *found;
        }
        if (!option.choices.empty() && std::ranges::count(option.choices, value) == 0) {
            return bad_choice(fmt::format("option '--{}'", option.name), value, option.choices);
        }
        if (option.times == Option::Times::once && result_.has(option.name) &&
            !option.value.empty() && result_.text(option.name) != value) {
            return fail(ErrorKind::invalid_argument,
                        "option '--{}' is given twice, as '{}' and '{}'",
                        option.name,
                        printable(result_.text(option.name)),
                        printable(value));
        }
        result_.options_.emplace_back(&option, std::move(value));
        return {};
    }

    static Result<> bad_choice(const std::string& what, const std::string& value, Words choices)
    {
        const std::vector<std::string> names(choices.begin(), choices.end());
        std::string hint;
        if (const auto near = nearest(value, names))
            hint = fmt::format("Did you mean '{}'?", *near);
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("{} is '{}', not one of {}", what, printable(value), join(names, ", ")),
            hint));
    }

    Result<> check_words()
    {
        const auto& places = result_.command->positionals;
        std::size_t needed = 0;
        bool many = false;
        for (const Positional& place : places) {
            if (place.count == Positional::Count::one) ++needed;
            if (place.count == Positional::Count::many) many = true;
        }
        if (result_.words_.size() < needed) {
            return fail(ErrorKind::invalid_argument,
                        "'{}' needs {}",
                        result_.path,
                        places[result_.words_.size()].name);
        }
        if (!many && result_.words_.size() > places.size()) {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      fmt::format("'{}' takes no argument '{}'",
                                  result_.path,
                                  printable(result_.words_[places.size()])),
                      fmt::format("'ponk {} --help' shows what it takes.", result_.path)));
        }
        for (std::size_t i = 0; i < std::min(places.size(), result_.words_.size()); ++i) {
            if (places[i].choices.empty()) continue;
            if (std::ranges::count(places[i].choices, result_.words_[i]) > 0) continue;
            return bad_choice(std::string(places[i].name), result_.words_[i], places[i].choices);
        }
        return {};
    }

    const std::vector<std::string>& words_;
    std::size_t next_ = 0;
    bool after_ml_ = false;
    Invocation result_;
};

Result<Invocation> parse(const std::vector<std::string>& words)
{
    return Parser(words).run();
}

Failure failure_of_parse(const Error& error)
{
    return Failure(
        error, error.kind() == ErrorKind::unavailable ? exit_code::not_built : exit_code::usage);
}

}  // namespace ponk::cli
