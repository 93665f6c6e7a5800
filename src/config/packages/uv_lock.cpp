// SPDX-License-Identifier: Apache-2.0
#include "config/packages/uv_lock.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"
#include "config/packages/pyproject.hpp"
#include "config/text/toml_document.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ponk::config {

namespace {

// Conditions that must all hold. A package may be needed for several such reasons.
using Clause = std::set<std::string>;
// A lock whose conditions multiply beyond this is one nobody wrote.
constexpr std::size_t most_clauses = 64;
constexpr std::size_t most_packages = 20'000;

std::string text_of(const Node& node, std::string_view key)
{
    const auto* const value = node.find(key);
    return value != nullptr && value->is_scalar() ? value->text : "";
}

struct Locked {
    const Node* node = nullptr;
    std::string name;
    std::string version;
    std::vector<Clause> needed;  // empty: it is not
    std::set<std::string> extras;
};

class UvLock {
public:
    UvLock(const Node& root, Report& report) : root_(root), report_(report) {}

    CondaEnvironment read()
    {
        CondaEnvironment environment = read_requirements(root_, report_);
        const auto* const list = root_.find("package");
        if (list == nullptr || !list->is_list()) return environment;
        if (list->items.size() > most_packages) {
            report_.error(list->place, "too-long", "the lock has too many packages");
            return environment;
        }
        for (const auto& item : list->items)
            packages_.push_back({&item, text_of(item, "name"), text_of(item, "version"), {}, {}});
        for (std::size_t i = 0; i < packages_.size(); ++i)
            by_name_[packages_[i].name].push_back(i);
        if (const auto project = find_project()) {
            need(*project, {});
            follow_groups(*packages_[*project].node);
            // A list instead of calls: a chain of packages may be longer than a stack.
            while (!to_follow_.empty()) {
                const auto [dependencies, clause] = std::move(to_follow_.back());
                to_follow_.pop_back();
                follow(*dependencies, clause);
            }
        } else {
            report_.error({}, "no-project", "the lock does not contain the project itself");
        }
        add_indexes(environment);
        // pip wants checksums of all or of none; what comes by git has none.
        has_hashes_ = std::ranges::none_of(packages_, [](const Locked& one) {
            return !one.needed.empty() && !is_own(one) &&
                   source_of(one).find("registry") == nullptr;
        });
        for (const auto& package : packages_)
            if (!package.needed.empty()) add(package, environment);
        return environment;
    }

private:
    static const Node& source_of(const Locked& package)
    {
        static const Node none;
        const auto* const source = package.node->find("source");
        return source != nullptr ? *source : none;
    }

    // Part of the project's own tree, which is not installed but imported.
    static bool is_own(const Locked& package)
    {
        const auto& source = source_of(package);
        return source.find("virtual") != nullptr || source.find("editable") != nullptr ||
               source.find("directory") != nullptr;
    }

    [[nodiscard]] std::optional<std::size_t> find_project() const
    {
        for (std::size_t i = 0; i < packages_.size(); ++i) {
            const auto& source = source_of(packages_[i]);
            if (text_of(source, "virtual") == "." || text_of(source, "editable") == ".") return i;
        }
        return std::nullopt;
    }

    // What 'uv sync' installs beside the dependencies themselves.
    void follow_groups(const Node& project)
    {
        const auto* const groups = project.find("dev-dependencies");
        if (groups == nullptr) return;
        if (const auto* const dev = groups->find("dev")) to_follow_.emplace_back(dev, Clause());
    }

    void follow(const Node& dependencies, const Clause& clause)
    {
        for (const auto& item : dependencies.items) {
            const auto found = by_name_.find(text_of(item, "name"));
            if (found == by_name_.end()) continue;
            auto further = clause;
            if (const auto marker = text_of(item, "marker"); !marker.empty())
                further.insert(marker);
            const auto version = text_of(item, "version");
            for (const auto i : found->second) {
                if (!version.empty() && packages_[i].version != version) continue;
                need(i, further);
                if (const auto* const extras = item.find("extra"))
                    for (const auto& extra : extras->items)
                        need_extra(i, extra.text, further);
            }
        }
    }

    void need(std::size_t i, Clause clause)
    {
        auto& needed = packages_[i].needed;
        if (needed.size() >= most_clauses) clause.clear();
        const auto covers = [](const Clause& wide, const Clause& narrow) {
            return std::includes(narrow.begin(), narrow.end(), wide.begin(), wide.end());
        };
        if (std::ranges::any_of(needed, [&](const Clause& one) { return covers(one, clause); }))
            return;
        std::erase_if(needed, [&](const Clause& one) { return covers(clause, one); });
        needed.push_back(clause);
        if (const auto* const dependencies = packages_[i].node->find("dependencies"))
            to_follow_.emplace_back(dependencies, std::move(clause));
    }

    void need_extra(std::size_t i, const std::string& extra, const Clause& clause)
    {
        // Once without a condition, or once for each.
        if (!packages_[i].extras.insert(extra + "\n" + join_all(clause)).second) return;
        const auto* const extras = packages_[i].node->find("optional-dependencies");
        if (extras == nullptr) return;
        if (const auto* const dependencies = extras->find(extra))
            to_follow_.emplace_back(dependencies, clause);
    }

    static std::string join_all(const Clause& clause)
    {
        std::vector<std::string> parts;
        for (const auto& condition : clause)
            parts.push_back("(" + condition + ")");
        return join(parts, " and ");
    }

    // The index that serves most is the one that this machine uses; others are named.
    void add_indexes(CondaEnvironment& environment) const
    {
        std::map<std::string, std::size_t> served;
        for (const auto& package : packages_)
            if (const auto index = text_of(source_of(package), "registry");
                !package.needed.empty() && !index.empty())
                ++served[index];
        const auto usual = std::ranges::max_element(
            served, [](const auto& left, const auto& right) { return left.second < right.second; });
        for (auto each = served.begin(); each != served.end(); ++each) {
            if (each != usual)
                environment.pip.push_back(
                    parse_package("--extra-index-url " + each->first, {1, 1}, Installer::pip));
        }
    }

    void add(const Locked& package, CondaEnvironment& environment)
    {
        if (is_own(package)) return;
        Package line;
        line.place = package.node->place;
        line.name = package.name;
        const auto& source = source_of(package);
        if (const auto git = text_of(source, "git"); !git.empty()) {
            line.kind = Package::Kind::url;
            line.text = fmt::format("{} @ git+{}", package.name, at_commit(git));
        } else if (const auto url = text_of(source, "url"); !url.empty()) {
            line.kind = Package::Kind::url;
            line.text = fmt::format("{} @ {}", package.name, url);
        } else if (const auto path = text_of(source, "path"); !path.empty()) {
            line.kind = Package::Kind::path;
            line.text = path.starts_with('.') ? path : "./" + path;
        } else {
            line.version = "==" + package.version;
            line.text = package.name + line.version;
        }
        line.text += condition_of(package);
        if (has_hashes_) line.text += hashes_of(package);
        environment.pip.push_back(std::move(line));
    }

    // "https://host/x.git?rev=main#COMMIT": what was locked is the commit.
    static std::string at_commit(const std::string& address)
    {
        const auto hash = address.find('#');
        const auto end = std::min(address.find('?'), hash);
        return address.substr(0, end) +
               (hash == std::string::npos ? "" : "@" + address.substr(hash + 1));
    }

    static std::string condition_of(const Locked& package)
    {
        std::vector<std::string> reasons;
        for (const auto& clause : package.needed) {
            if (clause.empty()) return "";
            reasons.push_back("(" + join_all(clause) + ")");
        }
        std::ranges::sort(reasons);
        return " ; " + join(reasons, " or ");
    }

    static std::string hashes_of(const Locked& package)
    {
        std::string text;
        const auto add_hash = [&text](const Node& file) {
            const auto hash = text_of(file, "hash");
            if (hash.starts_with("sha256:")) text += " --hash=" + hash;
        };
        if (const auto* const sdist = package.node->find("sdist")) add_hash(*sdist);
        if (const auto* const wheels = package.node->find("wheels"))
            std::ranges::for_each(wheels->items, add_hash);
        return text;
    }

    const Node& root_;
    Report& report_;
    std::vector<Locked> packages_;
    std::vector<std::pair<const Node*, Clause>> to_follow_;
    bool has_hashes_ = false;
    std::map<std::string, std::vector<std::size_t>> by_name_;
};

}  // namespace

std::optional<CondaEnvironment> read_uv_lock(std::string_view text, Report& report)
{
    const auto root = read_toml_document(text, report);
    if (!root) return std::nullopt;
    return UvLock(*root, report).read();
}

}  // namespace ponk::config
