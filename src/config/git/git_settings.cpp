// SPDX-License-Identifier: Apache-2.0
#include "config/git/git_settings.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "os/git_command.hpp"
#include "os/variables.hpp"

#include <chrono>

namespace ponk::config {

namespace {

constexpr std::uint64_t size_limit = std::uint64_t{1} << 20;
constexpr int most_files = 50;
constexpr auto longest_question = std::chrono::seconds(5);

bool is_comment(char c)
{
    return c == '#' || c == ';';
}

// Reads one file. Lines may go on behind a backslash, values may be quoted in parts.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    GitSettings read()
    {
        GitSettings out;
        for (skip_blank(); out.whole && at_ < text_.size(); skip_blank())
            out.whole = text_[at_] == '[' ? read_section() : read_setting();
        out.settings = std::move(settings_);
        return out;
    }

private:
    void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }
    void skip_blank()
    {
        for (; at_ < text_.size(); ++at_) {
            if (is_comment(text_[at_])) skip_line();
            if (at_ < text_.size() && !is_space(text_[at_])) return;
        }
    }
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

    bool read_section()
    {
        const auto end = std::min(text_.find('\n', at_), text_.size());
        const auto quote = text_.find('"', at_);
        section_.clear();
        subsection_.clear();
        ++at_;
        while (at_ < end && text_[at_] != ']' && text_[at_] != '"' && text_[at_] != ' ')
            section_ += text_[at_++];
        section_ = lower(section_);
        if (quote < end && at_ <= quote) {
            for (at_ = quote + 1; at_ < end && text_[at_] != '"'; ++at_) {
                if (text_[at_] == '\\') ++at_;
                if (at_ < end) subsection_ += text_[at_];
            }
            ++at_;
        }
        if (at_ >= end || text_[at_] != ']') return false;
        ++at_;
        return true;
    }

    bool read_setting()
    {
        GitSetting setting{section_, subsection_, {}, {}};
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '=' &&
               !is_comment(text_[at_]))
            setting.key += text_[at_++];
        if (setting.key.empty() || section_.empty()) return false;
        setting.key = lower(setting.key);
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t'))
            ++at_;
        if (at_ < text_.size() && text_[at_] == '=') {
            ++at_;
            if (!read_value(setting.value)) return false;
        }
        settings_.push_back(std::move(setting));
        return true;
    }

    bool read_value(std::string& value)
    {
        bool quoted = false;
        std::size_t kept = 0;  // blanks behind this are the line's end, unless more follows
        for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
            const char c = text_[at_];
            if (!quoted && is_comment(c)) {
                skip_line();
                break;
            }
            if (c == '"') {
                quoted = !quoted;
                kept = value.size();
            } else if (c == '\\') {
                if (!read_escape(value)) return false;
                kept = value.size();
            } else if (quoted || !is_space(c)) {
                value += c;
                kept = value.size();
            } else if (!value.empty()) {
                value += c;
            }
        }
        value.resize(kept);
        return !quoted;
    }

    bool read_escape(std::string& value)
    {
        if (++at_ >= text_.size()) return false;
        if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
        switch (text_[at_]) {
        case '\n':
            return true;
        case 'n':
            value += '\n';
            return true;
        case 't':
            value += '\t';
            return true;
        case 'b':
            value += '\b';
            return true;
        case '\\':
        case '"':
            value += text_[at_];
            return true;
        default:
            return false;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string section_;
    std::string subsection_;
    std::vector<GitSetting> settings_;
};

std::string home()
{
    return os::variable(os::own_variables(), "HOME");
}

os::Path folder_of_configurations()
{
    const auto named = os::variable(os::own_variables(), "XDG_CONFIG_HOME");
    if (!named.empty()) return named;
    return home().empty() ? os::Path() : os::Path(home()) / ".config";
}

os::Path expand(const std::string& value, const os::Path& folder)
{
    if (value.starts_with("~/")) return os::Path(home()) / value.substr(2);
    const os::Path path(value);
    return path.is_absolute() ? path : folder / path;
}

// What the files say about core.excludesFile; `ask` when only git can tell.
struct Found {
    std::optional<std::string> value;
    bool ask = false;
    int files = 0;  // read so far: they may include each other
};

Result<> look_into(const os::Path& file, Found& found)
{
    if (++found.files > most_files) found.ask = true;
    if (found.ask) return {};
    const auto text = TRY(os::read_file_if_any(file, size_limit));
    if (!text) return {};
    const auto parsed = parse_git_settings(*text);
    if (!parsed.whole) found.ask = true;
    for (const auto& setting : parsed.settings) {
        if (setting.section == "core" && setting.key == "excludesfile") found.value = setting.value;
        const bool conditional = setting.section == "includeif" ||
                                 (setting.section == "extensions" &&
                                  setting.key == "worktreeconfig" && setting.value != "false");
        if (conditional) found.ask = true;
        if (setting.section != "include" || setting.key != "path") continue;
        // The home of another user: only git knows.
        if (setting.value.starts_with("~") && !setting.value.starts_with("~/")) {
            found.ask = true;
        } else {
            TRY(look_into(expand(setting.value, file.parent_path()), found));
        }
    }
    return {};
}

Result<std::optional<std::string>> ask_git(const GitPlace& place)
{
    const auto command =
        os::git_question(place.work_tree, {"config", "--type=path", "--get", "core.excludesFile"});
    const auto output = TRY(os::run(command, after(longest_question), {}));
    if (output.exit.status() == 0) return std::optional<std::string>(std::string(trim(output.out)));
    if (output.exit.status() == 1) return std::optional<std::string>();  // it is not set
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                "git cannot read its settings: " + printable(trim(output.err)),
                                "'git config --list' must work: they may name a file that keeps "
                                "files out of the snapshot."));
}

}  // namespace

GitSettings parse_git_settings(std::string_view text)
{
    return Reader(without_byte_order_mark(text)).read();
}

Result<std::optional<os::Path>> find_excludes_file(const GitPlace& place)
{
    Found found;
    std::vector<os::Path> files{"/etc/gitconfig"};
    const auto configurations = folder_of_configurations();
    if (!configurations.empty()) files.push_back(configurations / "git" / "config");
    if (!home().empty()) files.push_back(os::Path(home()) / ".gitconfig");
    files.push_back(place.common_dir / "config");
    for (const auto& file : files)
        TRY(look_into(file, found));
    if (found.value && found.value->starts_with("~") && !found.value->starts_with("~/"))
        found.ask = true;
    if (found.ask) found.value = TRY(ask_git(place));
    if (found.value && found.value->empty()) return std::optional<os::Path>();
    if (found.value) return std::optional<os::Path>(expand(*found.value, place.work_tree));
    if (configurations.empty()) return std::optional<os::Path>();
    return std::optional<os::Path>(configurations / "git" / "ignore");
}

}  // namespace ponk::config
