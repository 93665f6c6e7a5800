// SPDX-License-Identifier: Apache-2.0
#include "config/script/python_names.hpp"

#include "config/script/python_tokens.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace ponk::config {

namespace {

constexpr std::array<std::string_view, 2> known_names{"os", "sys"};
constexpr std::array<std::string_view, 12> block_words{"try",
                                                       "except",
                                                       "finally",
                                                       "if",
                                                       "elif",
                                                       "else",
                                                       "for",
                                                       "while",
                                                       "with",
                                                       "def",
                                                       "class",
                                                       "async"};

class Reading {
public:
    explicit Reading(std::string_view text) : tokens_(python_tokens(text)) {}

    PythonNames run()
    {
        for (at_ = 0; at_ < tokens_.size();)
            read_statement();
        for (const auto at : used_)
            read_use(at);
        for (const auto name : known_names) {
            if (used_known_.contains(name) && !set_.contains(name)) out_.missing.emplace_back(name);
        }
        return std::move(out_);
    }

private:
    using Kind = PythonToken::Kind;

    [[nodiscard]] bool over() const
    {
        return at_ >= tokens_.size() || tokens_[at_].kind == Kind::line_end;
    }
    [[nodiscard]] bool next_is(std::size_t at, std::string_view mark) const
    {
        return at + 1 < tokens_.size() && tokens_[at + 1].is(mark);
    }

    void read_statement()
    {
        const auto& first = tokens_[at_];
        if (first.kind == Kind::line_end) {
            ++at_;
            return;
        }
        // What follows the colon of a block on the same line is inside of it.
        const bool own_line = at_ == 0 || tokens_[at_ - 1].place.line != first.place.line;
        if (own_line)
            while (!tries_.empty() && tries_.back() >= first.place.column)
                tries_.pop_back();
        if (first.is("import")) {
            read_import();
        } else if (first.is("from")) {
            read_from();
        } else {
            if (first.is("try") || first.is("except")) tries_.push_back(first.place.column);
            const bool block =
                first.kind == Kind::word &&
                std::find(block_words.begin(), block_words.end(), first.text) != block_words.end();
            read_others(block);
        }
    }

    // "a.b.c" from here on.
    std::string dotted()
    {
        std::string name;
        while (!over() && tokens_[at_].kind == Kind::word) {
            name += tokens_[at_++].text;
            if (over() || !tokens_[at_].is(".")) break;
            ++at_;
            name += '.';
        }
        return name;
    }

    void add(PythonImport import)
    {
        import.kind = tries_.empty() ? PythonImport::Kind::required : PythonImport::Kind::attempted;
        out_.imports.push_back(std::move(import));
    }

    // The name after "as", or empty.
    std::string alias()
    {
        if (over() || !tokens_[at_].is("as")) return {};
        ++at_;
        return over() ? std::string() : std::string(tokens_[at_++].text);
    }

    void bind(const std::string& name, const std::string& meaning)
    {
        set_.insert(name);
        meanings_[name] = meaning;
    }

    void read_import()
    {
        ++at_;
        while (!over()) {
            const auto place = tokens_[at_].place;
            const auto module = dotted();
            if (module.empty()) {
                ++at_;
                continue;
            }
            const auto top = module.substr(0, module.find('.'));
            add({.module = module, .name = {}, .place = place});
            if (const auto as = alias(); !as.empty()) {
                bind(as, module);
            } else {
                bind(top, top);
            }
            if (!over() && tokens_[at_].is(",")) ++at_;
        }
    }

    void read_from()
    {
        const auto place = tokens_[at_++].place;
        std::size_t dots = 0;
        while (!over() && tokens_[at_].is(".")) {
            ++dots;
            ++at_;
        }
        // "from . import x"
        const bool nameless = !over() && tokens_[at_].is("import");
        const auto module = nameless ? std::string() : dotted();
        if (over() || !tokens_[at_].is("import")) {
            read_others(false);
            return;
        }
        ++at_;
        while (!over()) {
            const auto& token = tokens_[at_];
            if (token.is("(") || token.is(")") || token.is(",")) {
                ++at_;
                continue;
            }
            const std::string name(token.text);
            ++at_;
            PythonImport import{.module = module, .name = name, .place = token.place, .dots = dots};
            if (import.place.line == 0) import.place = place;
            auto as = alias();
            if (as.empty()) as = name;
            if (dots == 0) {
                bind(as, module + "." + name);
            } else {
                set_.insert(as);
                meanings_.erase(as);
            }
            add(std::move(import));
        }
    }

    // To the end of the statement, or behind the colon that begins its block.
    void read_others(bool block)
    {
        for (; !over(); ++at_) {
            const auto& token = tokens_[at_];
            if (block && token.is(":") && token.depth == 0) {
                ++at_;
                return;
            }
            if (token.kind != Kind::word) continue;
            const bool behind_dot = at_ > 0 && tokens_[at_ - 1].is(".");
            const auto known = std::find(known_names.begin(), known_names.end(), token.text);
            if (known != known_names.end() && !behind_dot) {
                const bool assigned = next_is(at_, "=") && !next_is(at_ + 1, "=");
                if (assigned && token.depth == 0) set_.insert(std::string(*known));
                if (next_is(at_, ".")) used_known_.insert(*known);
            }
            used_.push_back(at_);
        }
    }

    // After all imports are known: functions use what the file imports further below.
    void read_use(std::size_t at)
    {
        const auto& token = tokens_[at];
        if (at > 0 && tokens_[at - 1].is(".")) {
            const bool called = next_is(at, "(");
            if (called || next_is(at, "["))
                out_.uses.push_back(
                    {"." + std::string(token.text) + (called ? "(" : "["), token.place});
            return;
        }
        const auto meaning = meanings_.find(std::string(token.text));
        if (meaning == meanings_.end()) return;
        auto name = meaning->second;
        while (next_is(at, ".") && at + 2 < tokens_.size() && tokens_[at + 2].kind == Kind::word) {
            at += 2;
            name += ".";
            name += tokens_[at].text;
        }
        if (name != meaning->second || name.find('.') != name.npos)
            out_.uses.push_back({std::move(name), token.place});
    }

    std::vector<PythonToken> tokens_;
    std::size_t at_ = 0;
    std::vector<std::uint32_t> tries_;  // columns of the blocks around
    std::vector<std::size_t> used_;     // words outside of imports
    std::map<std::string, std::string> meanings_;
    std::set<std::string, std::less<>> set_;
    std::set<std::string_view> used_known_;
    PythonNames out_;
};

}  // namespace

std::string PythonImport::whole() const
{
    if (name.empty() || name == "*") return module;
    return module.empty() ? name : module + "." + name;
}

bool PythonNames::imports_package(std::string_view package) const
{
    return std::any_of(imports.begin(), imports.end(), [&](const PythonImport& each) {
        return each.dots == 0 && each.module.starts_with(package) &&
               (each.module.size() == package.size() || each.module[package.size()] == '.');
    });
}

PythonNames python_names(std::string_view text)
{
    return Reading(text).run();
}

}  // namespace ponk::config
