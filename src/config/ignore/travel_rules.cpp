// SPDX-License-Identifier: Apache-2.0
#include "config/ignore/travel_rules.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "config/git/git_settings.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

namespace ponk::config {

namespace {

using Path = os::Path;

// In all ignore files of a project: they are kept in memory.
constexpr std::size_t most_rules = 100'000;

// Files that tell what a folder is, whatever its name.
constexpr const char* marks[] = {"pyvenv.cfg", "conda-meta/history", "CACHEDIR.TAG"};

bool has_entry(const Path& path)
{
    return ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

std::string_view parent_of(std::string_view path)
{
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string rule_text(const std::string& source, const IgnoreRules::Match& match)
{
    return fmt::format("{}:{}: {}", source, match.number, printable(match.line));
}

}  // namespace

std::string_view TravelRules::own_rules()
{
    // The last two are what 'history download' and 'experiment diagnostics' make when no other name
    // is given: they are not inputs of a later run.
    return ".git\n"
           ".azuremlhistory_git\n"
           "/outputs\n"
           "/azureml-logs\n"
           "/azureml-setup\n"
           "*.ponk-partial\n"
           "ponk-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]/\n"
           "ponk-[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f].zip\n";
}

std::string_view TravelRules::built_in_rules()
{
    return "# environments\n"
           ".venv/\n"
           ".conda/\n"
           ".pixi/envs/\n"
           ".tox/\n"
           ".nox/\n"
           ".direnv/\n"
           "__pypackages__/\n"
           "node_modules/\n"
           "# caches\n"
           "__pycache__/\n"
           ".ipynb_checkpoints/\n"
           ".pytest_cache/\n"
           ".mypy_cache/\n"
           ".ruff_cache/\n"
           ".hypothesis/\n"
           ".DS_Store\n"
           "# folders of trackers\n"
           "/wandb/\n"
           "/mlruns/\n"
           "/mlartifacts/\n"
           "/mlflow.db\n"
           "/lightning_logs/\n"
           "/catboost_info/\n"
           "/.aim/\n"
           "/.neptune/\n"
           "/.guild/\n"
           ".dvc/cache/\n"
           ".dvc/tmp/\n"
           "# files of secrets\n"
           ".env\n"
           ".env.*\n"
           "!.env.example\n"
           "!.env.sample\n"
           "!.env.template\n"
           "!.env.dist\n";
}

bool TravelRules::may_hold_secrets(std::string_view name)
{
    // The built-in rules have no other names that begin like this.
    if (!name.starts_with(".env")) return false;
    static const auto rules = IgnoreRules::parse(built_in_rules());
    return rules.ignores_entry(name, false);
}

std::string TravelRules::Repository::path_in(std::string_view path) const
{
    return prefix + std::string(path.substr(std::min(skipped, path.size())));
}

Result<TravelRules> TravelRules::load(const Path& project)
{
    TravelRules rules;
    std::error_code problem;
    rules.project_ = std::filesystem::canonical(project, problem);
    if (problem) rules.project_ = project;
    rules.aml_ = TRY(IgnoreRules::read(project / ".amlignore"));
    rules.own_ = IgnoreRules::parse(own_rules());
    rules.built_in_ = IgnoreRules::parse(built_in_rules());
    rules.count_ = std::make_unique<std::atomic<std::size_t>>(0);
    rules.folders_ = std::make_unique<Synced<KeyedMap<FolderPtr>>>();
    TRY(rules.open_repository());
    return rules;
}

Result<> TravelRules::open_repository()
{
    const auto place = TRY(find_git(project_));
    auto repository = std::make_shared<Repository>();
    repository_ = repository;
    if (place) {
        repository_ = TRY(repository_at(*place, ""));
        const auto& prefix = repository_->prefix;
        // From the project upwards.
        for (auto folder = parent_of(std::string_view(prefix).substr(0, prefix.size() - 1));
             !prefix.empty();
             folder = parent_of(folder)) {
            const auto base = folder.empty() ? std::string() : std::string(folder) + "/";
            TRY(add_rules(
                place->work_tree / folder / ".gitignore", base, above_, os::Links::refuse));
            if (folder.empty()) break;
        }
        // A project in a folder that its repository ignores (a home folder kept in git, say) is a
        // project of its own.
        for (std::size_t end = prefix.find('/'); end != std::string::npos;
             end = prefix.find('/', end + 1)) {
            const auto path = std::string_view(prefix).substr(0, end);
            std::optional<IgnoreRules::Match> found;
            const auto ask = [&](const std::vector<Rules>& all) {
                for (const auto& each : all) {
                    if (found || !path.starts_with(each.base) || path.size() == each.base.size())
                        continue;
                    found = each.rules.match(path.substr(each.base.size()), true);
                }
            };
            ask(above_);
            ask(repository_->general);
            if (!found || found->include || TRY(is_tracked(*repository_, path, true))) continue;
            repository_ = repository;
            above_.clear();
            break;
        }
    }
    std::string text(own_rules());
    text += built_in_rules();
    for (const auto* mark : marks)
        text += std::string(mark) + "\n";
    const auto add = [&text](const Rules& each) {
        text += each.source + " " + each.base + "\n" + join(each.rules.lines(), "\n") + "\n";
    };
    for (const auto& each : above_)
        add(each);
    for (const auto& each : repository_->general)
        add(each);
    if (aml_) text += ".amlignore\n" + join(aml_->lines(), "\n") + "\n";
    if (repository_->place) text += TrackedFiles::fingerprint(*repository_->place);
    fingerprint_ = sha256(text).text();
    return {};
}

// `folder` is where the walk met it, "" for the project itself.
Result<TravelRules::RepositoryPtr> TravelRules::repository_at(const GitPlace& place,
                                                              std::string_view folder) const
{
    auto repository = std::make_shared<Repository>();
    repository->place = place;
    if (folder.empty()) {
        const auto below = project_.lexically_relative(place.work_tree);
        if (below != ".") repository->prefix = below.native() + "/";
    } else {
        repository->skipped = folder.size() + 1;
    }
    auto& general = repository->general;
    TRY(add_rules(place.common_dir / "info" / "exclude", "", general, os::Links::follow));
    if (const auto excludes = TRY(find_excludes_file(place)))
        TRY(add_rules(*excludes, "", general, os::Links::follow));
    return RepositoryPtr(std::move(repository));
}

Result<> TravelRules::add_rules(const Path& file,
                                const std::string& base,
                                std::vector<Rules>& to,
                                os::Links links) const
{
    auto rules = TRY(IgnoreRules::read(file, links));
    if (!rules) return {};
    auto source = file.lexically_relative(project_).native();
    if (source.empty() || source.starts_with("../../..")) source = file.native();
    if ((*count_ += rules->size()) > most_rules) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("the ignore files of {} have more than {} rules in all",
                              os::in_quotes(project_),
                              most_rules),
                  "Leave out folders or kinds of files instead of single files."));
    }
    to.push_back({std::move(*rules), base, printable(source)});
    return {};
}

Result<bool>
TravelRules::is_tracked(const Repository& repository, std::string_view path, bool folder) const
{
    if (!repository.place) return false;
    const std::lock_guard lock(repository.mutex);
    if (!repository.tracked) {
        repository.tracked =
            std::make_shared<const TrackedFiles>(TRY(TrackedFiles::load(*repository.place)));
    }
    return folder ? repository.tracked->has_any_in(path) : repository.tracked->contains(path);
}

Result<TravelRules::FolderPtr> TravelRules::folder(std::string_view path) const
{
    {
        const auto folders = folders_->lock();
        if (const auto found = folders->find(std::string(path)); found != folders->end())
            return found->second;
    }
    auto made = TRY(make_folder(path));
    return folders_->lock()->emplace(std::string(path), std::move(made)).first->second;
}

Result<TravelRules::FolderPtr> TravelRules::make_folder(std::string_view path) const
{
    auto made = std::make_shared<Folder>();
    made->repository = repository_;
    const auto here = path.empty() ? project_ : project_ / path;
    if (!path.empty()) {
        const auto above = TRY(folder(parent_of(path)));
        const auto decision = TRY(decide(*above, path, true));
        made->left_out = decision.fate != Fate::travels;
        made->rule = decision.rule;
        const auto named = aml_ ? aml_->match(path, true) : std::nullopt;
        made->named = above->named || (named && named->include);
        made->repository = above->repository;
        // What a repository inside the project ignores is its own affair.
        std::optional<GitPlace> place;
        if (has_entry(here / ".git")) place = TRY(find_git(here));
        if (place && place->work_tree == here) {
            made->repository = TRY(repository_at(*place, path));
        } else {
            made->above = above;
        }
    }
    if (made->left_out) return FolderPtr(std::move(made));
    // One that .amlignore names travels whatever it says about itself, as '.venv/.gitignore' does.
    if (made->named) return FolderPtr(std::move(made));
    std::vector<Rules> own;
    auto base = made->repository->path_in(path);
    if (!base.empty() && !base.ends_with('/')) base += '/';
    TRY(add_rules(here / ".gitignore", base, own, os::Links::refuse));
    if (!own.empty()) made->own = std::move(own.front());
    return FolderPtr(std::move(made));
}

Result<TravelRules::Decision>
TravelRules::decide(const Folder& folder, std::string_view path, bool is_directory) const
{
    if (const auto line = aml_ ? aml_->match(path, is_directory) : std::nullopt) {
        if (line->include) return Decision{};
        return Decision{Fate::left_out, rule_text(".amlignore", *line)};
    }
    if (const auto own = own_.match(path, is_directory))
        return Decision{Fate::left_out, fmt::format("built-in rule: {}", own->line), true};
    // All of a folder that a line of .amlignore names travels.
    if (folder.named) return Decision{};
    const auto& repository = *folder.repository;
    const auto name = repository.path_in(path);
    // Git's answer: the file nearest to the path decides.
    std::optional<IgnoreRules::Match> git;
    const std::string* source = nullptr;
    const auto ask = [&](const Rules& rules) {
        if (git || name.size() <= rules.base.size()) return;
        git = rules.rules.match(std::string_view(name).substr(rules.base.size()), is_directory);
        if (git) source = &rules.source;
    };
    for (const auto* each = &folder; each != nullptr; each = each->above.get()) {
        if (each->own) ask(*each->own);
    }
    if (folder.repository == repository_) {
        for (const auto& each : above_)
            ask(each);
    }
    for (const auto& each : repository.general)
        ask(each);
    const bool named = git && git->include && git->by_name;
    std::string rule;
    bool by_mark = false;
    if (folder.left_out) {
        rule = folder.rule;
    } else if (git && !git->include) {
        rule = rule_text(*source, *git);
    } else if (const auto built_in = built_in_.match(path, is_directory);
               built_in && !built_in->include && !named) {
        rule = fmt::format("built-in rule: {}", built_in->line);
    }
    if (rule.empty()) {
        if (!is_directory) return Decision{};
        // What the folder itself says: an environment, whatever its name.
        for (const auto* mark : marks) {
            if (!has_entry(project_ / path / mark)) continue;
            rule = fmt::format("built-in rule: a folder with {}", mark);
            by_mark = true;
            break;
        }
        if (rule.empty()) return Decision{};
    }
    if (TRY(is_tracked(repository, name, is_directory)))
        return Decision{is_directory ? Fate::entered : Fate::travels, rule};
    if (is_directory && aml_ && aml_->includes_below(path)) return Decision{Fate::entered, rule};
    return Decision{Fate::left_out, rule, false, by_mark};
}

Result<TravelRules::Decision> TravelRules::explain(std::string_view path, bool is_directory) const
{
    for (auto slash = path.find('/'); slash != std::string_view::npos;
         slash = path.find('/', slash + 1)) {
        const auto above = path.substr(0, slash);
        auto decision = TRY(decide(*TRY(folder(parent_of(above))), above, true));
        if (decision.fate == Fate::left_out) return decision;
    }
    return decide(*TRY(folder(parent_of(path))), path, is_directory);
}

TravelRules::Signs TravelRules::signs_in(int folder)
{
    Signs signs;
    static_cast<void>(os::status_at(folder, ".gitignore", signs.rules));
    const auto is_there = [folder](const char* name) {
        return ::faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    };
    signs.repository = is_there(".git");
    for (const auto* mark : marks)
        signs.marks = signs.marks * 2 + (is_there(mark) ? 1 : 0);
    return signs;
}

std::string TravelRules::fingerprint() const
{
    return fingerprint_;
}

}  // namespace ponk::config
