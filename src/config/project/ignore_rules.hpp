// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "config/project/wildcard.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// Which files of a project stay out of its snapshot: the rules of one .amlignore or .gitignore,
// with exactly git's meaning (the last matching line wins, "!" re-includes, a slash anchors, "**"
// spans folders, a trailing slash means folders only; what lies in an ignored folder cannot come
// back). Case counts. Immutable once made; any number of threads may ask it.
class IgnoreRules {
public:
    // The lines of `text` and nothing else.
    static IgnoreRules parse(std::string_view text);
    // The rules of the folder `project`: what ponk leaves out by itself (base_rules), then the
    // lines of .amlignore, or of .gitignore when there is no .amlignore. A later line may
    // re-include what a base rule leaves out.
    static Result<IgnoreRules> load(const os::Path& project);
    // Version control and the folders that runs write: never part of a snapshot unless asked for.
    static std::string_view base_rules();

    // Whether `relative_path` (slashes, from the project's root, no leading slash) is left out,
    // by itself or because a folder above it is.
    [[nodiscard]] bool ignores(std::string_view relative_path, bool is_directory) const;
    // The same for a walk that never enters an ignored folder: the folders above are not asked.
    [[nodiscard]] bool ignores_entry(std::string_view relative_path, bool is_directory) const;

    // The lines that are rules, in order, as git reads them (comments and end blanks gone).
    [[nodiscard]] std::vector<std::string> lines() const;
    // The file that gave the rules: ".amlignore", ".gitignore" or "" when there was none.
    [[nodiscard]] const std::string& source() const noexcept { return source_; }

private:
    // What is compared with each rule. Most rules need a byte that it does not have.
    struct Entry {
        std::string_view path;
        std::string_view name;
        Wildcard::Bytes path_bytes;
        Wildcard::Bytes name_bytes;
    };
    struct Rule {
        std::string line;              // as written
        std::string literal;           // the text must begin with this…
        std::optional<Wildcard> rest;  // …and go on like this; without it the two are equal
        bool include = false;          // "!…"
        bool directories_only = false;
        bool whole_path = false;  // has a slash inside: matched against the path, not the name

        [[nodiscard]] bool matches(const Entry& entry) const;
    };

    void add_lines(std::string_view text);
    void add_line(std::string_view line);

    std::vector<Rule> rules_;
    std::string source_;
};

}  // namespace ponk::config
