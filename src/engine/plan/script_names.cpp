// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/script_names.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace ponk::engine {

namespace {

constexpr std::uint64_t longest_script = std::uint64_t{1} << 20;
constexpr std::array<std::string_view, 2> known_names{"os", "sys"};

bool starts_word(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool continues_word(char c)
{
    return starts_word(c) || (c >= '0' && c <= '9');
}

// Goes through a file once.
class Scan {
public:
    explicit Scan(std::string_view text) : text_(text) {}

    ScriptNames run()
    {
        while (at_ < text_.size())
            step();
        for (std::size_t i = 0; i < known_names.size(); ++i) {
            if (used_[i] && !set_[i]) out_.missing.emplace_back(known_names[i]);
        }
        return std::move(out_);
    }

private:
    // Where the current statement stands: `from NAMES import NAMES`.
    enum class Statement { begin, other, imports, from };

    void step()
    {
        const char c = text_[at_];
        if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '"' || c == '\'') {
            skip_text(c);
            before_ = c;
            if (statement_ == Statement::begin) statement_ = Statement::other;
        } else if (starts_word(c)) {
            read_word();
        } else {
            if (c == '(' || c == '[' || c == '{') ++depth_;
            if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
            const bool continued = before_ == '\\';
            if ((c == '\n' && depth_ == 0 && !continued) || c == ';') statement_ = Statement::begin;
            if (c != ' ' && c != '\t' && c != '\r') before_ = c;
            ++at_;
        }
    }

    void skip_text(char quote)
    {
        const std::string three(3, quote);
        const bool is_long = text_.substr(at_, 3) == three;
        at_ += is_long ? 3 : 1;
        while (at_ < text_.size()) {
            if (text_[at_] == '\\') {
                at_ += 2;
            } else if (is_long ? text_.substr(at_, 3) == three : text_[at_] == quote) {
                at_ += is_long ? 3 : 1;
                return;
            } else if (!is_long && text_[at_] == '\n') {
                return;
            } else {
                ++at_;
            }
        }
    }

    void read_word()
    {
        const auto first = at_;
        while (at_ < text_.size() && continues_word(text_[at_]))
            ++at_;
        const auto word = text_.substr(first, at_ - first);
        const char before = before_;
        before_ = 'a';
        if (statement_ == Statement::begin) {
            statement_ = word == "import" ? Statement::imports
                         : word == "from" ? Statement::from
                                          : Statement::other;
            if (statement_ != Statement::other) return;
        }
        if (word == "import" && statement_ == Statement::from) {
            statement_ = Statement::imports;
            return;
        }
        if (word == "pyspark" && statement_ != Statement::other && before != '.')
            out_.imports_pyspark = true;
        const auto known = std::find(known_names.begin(), known_names.end(), word);
        if (known == known_names.end() || before == '.') return;
        note(static_cast<std::size_t>(known - known_names.begin()));
    }

    void note(std::size_t name)
    {
        auto next = text_.find_first_not_of(" \t", at_);
        if (next == text_.npos) next = text_.size();
        const auto rest = text_.substr(next, 2);
        if (statement_ == Statement::imports) {
            set_[name] = true;
        } else if (statement_ == Statement::other) {
            if (rest.starts_with('=') && rest != "==" && depth_ == 0) set_[name] = true;
            if (rest.starts_with('.')) used_[name] = true;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    char before_ = '\n';  // the last character that is not a blank
    Statement statement_ = Statement::begin;
    std::array<bool, known_names.size()> used_{};
    std::array<bool, known_names.size()> set_{};
    ScriptNames out_;
};

}  // namespace

ScriptNames names_of_script(std::string_view text)
{
    return Scan(text).run();
}

Result<std::optional<ScriptNames>> names_of_script(const ResolvedRun& run)
{
    const auto& program = run.spec.program;
    if (!program.command.empty() || !program.module.empty() || is_preparation(run.spec) ||
        lower(Path(program.script).extension().native()) == model::notebook_extension)
        return std::nullopt;
    const auto file = os::open_regular(run.project / program.script, os::Links::follow);
    if (!file) return std::nullopt;
    return names_of_script(TRY(os::read_at(file->get(), 0, longest_script)));
}

Result<> give_names(ResolvedRun& run)
{
    std::error_code problem;
    if (!std::filesystem::is_directory(run.project / "aml_config", problem)) return {};
    auto names = TRY(names_of_script(run));
    if (!names || names->missing.empty()) return {};
    auto& program = run.spec.program;
    program.given_names = std::move(names->missing);
    const bool several = program.given_names.size() > 1;
    run.notices.push_back(fmt::format(
        "script {} uses '{}' without importing {}: {} defined for it, as in Azure ML Workbench\n"
        "  Add the line 'import {}'.",
        os::in_quotes(program.script),
        join(program.given_names, "' and '"),
        several ? "them" : "it",
        several ? "they are" : "it is",
        join(program.given_names, ", ")));
    return {};
}

}  // namespace ponk::engine
