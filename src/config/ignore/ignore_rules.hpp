// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/ignore/wildcard.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// The rules of one file, with exactly git's meaning (the last matching line wins, "!" re-includes,
// a slash anchors, "**" spans folders, a trailing slash means folders only; what lies in an ignored
// folder cannot come back). Case counts. Immutable once made; any number of threads may ask it.
class IgnoreRules {
public:
    static IgnoreRules parse(std::string_view text);
    // At most 10,000 rules in at most 1 MiB: each file of a project is compared with each rule.
    // nullopt when the file does not exist, or is /dev/null. With `Links::refuse` a link is not
    // followed, and neither it nor a folder has rules: as git reads .gitignore.
    static Result<std::optional<IgnoreRules>> read(const os::Path& file,
                                                   os::Links links = os::Links::follow);

    // The line that decides about a path.
    struct Match {
        bool include = false;   // "!…": it is re-included
        bool by_name = false;   // the line has no wildcards
        std::string_view line;  // as written
        std::size_t number = 0;
    };
    // `relative_path`: slashes, from the folder of the rules, no leading slash. The folders above
    // are not asked. nullopt: no rule matches.
    [[nodiscard]] std::optional<Match> match(std::string_view relative_path,
                                             bool is_directory) const;
    // The same as yes or no, and with the folders above.
    [[nodiscard]] bool ignores_entry(std::string_view relative_path, bool is_directory) const;
    [[nodiscard]] bool ignores(std::string_view relative_path, bool is_directory) const;
    // A line re-includes, by its path, something inside this folder.
    [[nodiscard]] bool includes_below(std::string_view folder) const;

    [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }
    // The lines that are rules, in order, as git reads them (comments and end blanks gone).
    [[nodiscard]] std::vector<std::string> lines() const;

private:
    // What is compared with each rule. Most rules need a byte that it does not have.
    struct Entry {
        std::string_view path;
        std::string_view name;
        Wildcard::Bytes path_bytes;
        Wildcard::Bytes name_bytes;
    };
    struct Rule {
        std::string line;  // as written
        std::size_t number = 0;
        std::string literal;           // the text must begin with this…
        std::optional<Wildcard> rest;  // …and go on like this; without it the two are equal
        bool include = false;          // "!…"
        bool directories_only = false;
        bool whole_path = false;  // has a slash inside: matched against the path, not the name

        [[nodiscard]] bool matches(const Entry& entry) const;
    };

    void add_lines(std::string_view text);
    void add_line(std::string_view line, std::size_t number);

    std::vector<Rule> rules_;
};

}  // namespace ponk::config
