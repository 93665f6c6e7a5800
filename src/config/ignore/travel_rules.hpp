// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/keyed_hash.hpp"
#include "base/synced.hpp"
#include "config/git/git_info.hpp"
#include "config/git/tracked_files.hpp"
#include "config/ignore/ignore_rules.hpp"
#include "os/file.hpp"
#include "os/tree.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::config {

// Which files of a project travel with a run (docs/design/what-travels.md). The first that decides:
//   1. a line of .amlignore;
//   2. our own rules: what runs write, and version control;
//   3. git tracks it: it travels;
//   4. git's ignore files, as git reads them: .gitignore of the file's folder and of those above
//      it in the repository, .git/info/exclude, core.excludesFile;
//   5. built-in rules: environments, caches, folders of trackers, files of secrets. A line of git's
//      that names one, without wildcards, re-includes it.
// Reads ignore files when it comes to their folder. Any number of threads may ask.
class TravelRules {
public:
    static Result<TravelRules> load(const os::Path& project);
    // Lines for people, in git's notation.
    static std::string_view own_rules();
    static std::string_view built_in_rules();

    enum class Fate {
        travels,
        left_out,
        entered  // a folder of which only what is tracked or named travels
    };
    struct Decision {
        Fate fate = Fate::travels;
        // Of what does not travel, or only as git tracks it: ".gitignore:3: data/",
        // "built-in rule: .venv/".
        std::string rule;
        bool own = false;      // by our own rules: nobody expects it to travel
        bool by_mark = false;  // of a folder: by a file in it
    };

    // One folder of the project: what decides about the names in it.
    class Folder;
    using FolderPtr = std::shared_ptr<const Folder>;
    // "" is the project itself. `path` must be a folder that is walked, so not one that is left
    // out.
    Result<FolderPtr> folder(std::string_view path) const;
    // `path` is relative to the project, and lies directly in `folder`.
    Result<Decision> decide(const Folder& folder, std::string_view path, bool is_directory) const;
    // A name such as '.env', which the built-in rules keep out as a file of secrets.
    static bool may_hold_secrets(std::string_view name);
    // For a single path: asks about the folders above first.
    Result<Decision> explain(std::string_view path, bool is_directory) const;

    // What in a folder has a say about the names in it: while this is the same, so are the answers.
    struct Signs {
        os::FileStatus rules;  // of its .gitignore; all zero: none
        bool repository = false;
        unsigned marks = 0;
    };
    static Signs signs_in(int folder);

    // Changes whenever the answers may, except by ignore files inside the project, which a walk
    // meets by itself, and by repositories inside it.
    [[nodiscard]] std::string fingerprint() const;

private:
    // One file of rules. `base` is its folder in the repository, "" or with a slash at its end.
    struct Rules {
        IgnoreRules rules;
        std::string base;
        std::string source;  // its name for people
    };
    // A repository, or a folder in none, which is treated as one without history.
    struct Repository {
        std::optional<GitPlace> place;
        std::string prefix;          // of the project in the work tree: "" or "a/b/"
        std::size_t skipped = 0;     // bytes of a path of the project before the work tree
        std::vector<Rules> general;  // strongest first: info/exclude, excludesFile
        mutable std::mutex mutex;
        mutable std::shared_ptr<const TrackedFiles> tracked;

        [[nodiscard]] std::string path_in(std::string_view path) const;
    };
    using RepositoryPtr = std::shared_ptr<const Repository>;

    TravelRules() = default;
    Result<> open_repository();
    Result<RepositoryPtr> repository_at(const GitPlace& place, std::string_view folder) const;
    Result<> add_rules(const os::Path& file,
                       const std::string& base,
                       std::vector<Rules>& to,
                       os::Links links) const;
    Result<FolderPtr> make_folder(std::string_view path) const;
    Result<bool> is_tracked(const Repository& repository, std::string_view path, bool folder) const;

    os::Path project_;
    std::optional<IgnoreRules> aml_;
    IgnoreRules own_;
    IgnoreRules built_in_;
    RepositoryPtr repository_;
    std::vector<Rules> above_;  // of folders above the project, strongest first
    std::unique_ptr<std::atomic<std::size_t>> count_;  // of rules
    std::unique_ptr<Synced<KeyedMap<FolderPtr>>> folders_;
    std::string fingerprint_;
};

class TravelRules::Folder {
    friend class TravelRules;
    FolderPtr above;  // with the rules of the folders above, in the same repository
    std::optional<Rules> own;
    RepositoryPtr repository;
    bool left_out = false;  // only what is tracked or named travels
    bool named = false;     // a line of .amlignore re-includes it
    std::string rule;       // of one that is left out
};

}  // namespace ponk::config
