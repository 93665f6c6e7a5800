// SPDX-License-Identifier: Apache-2.0
#include "engine/run/store_project.hpp"

#include "base/synced.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/project/ignore_rules.hpp"

#include <fmt/format.h>

#include <atomic>
#include <set>
#include <unistd.h>

namespace ponk::engine {

namespace {

// Changes whenever the rules do, so that the walk can trust what it remembers of a folder.
std::string fingerprint(const Path& project, const config::IgnoreRules& rules)
{
    std::string text(config::IgnoreRules::base_rules());
    text += "ponk's own data is left out\n";
    if (!rules.source().empty()) {
        const auto lines = os::read_file(project / rules.source());
        text += rules.source() + "\n" + lines.value_or("");
    }
    return sha256(text).text();
}

// A PONK_HOME, ours or another one: it holds keys, and runs that hold copies of projects.
bool is_home(const Path& folder)
{
    return ::access((folder / "run.key").c_str(), F_OK) == 0 &&
           ::access((folder / "store").c_str(), F_OK) == 0;
}

// Whether the entry is `part` or a folder on the way to it.
bool leads_to(const std::string& part, std::string_view path, bool is_directory)
{
    if (!is_directory) return path == part;
    return part.size() > path.size() && part.starts_with(path) && part[path.size()] == '/';
}

}  // namespace

Result<snapshot::SnapshotReport> store_project(const Context& context,
                                               const Path& project,
                                               const std::optional<std::string>& part,
                                               const std::function<void(const std::string&)>& tell,
                                               std::stop_token stop)
{
    if (is_home(project)) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    os::in_quotes(project) + " contains ponk's own data",
                                    "Put the script into another folder."));
    }
    const auto rules = TRY(config::IgnoreRules::load(project));
    Synced<std::set<std::string>> homes;
    snapshot::SnapshotOptions options;
    options.directory = project;
    options.stop = std::move(stop);
    options.ignore.fingerprint = fingerprint(project, rules);
    if (!part) {
        TRY(os::make_directories(context.home / "cache" / "stat"));
        options.cache_file = context.home / "cache" / "stat" / sha256(project.native()).text();
        options.ignore.ignored = [&](std::string_view path, bool is_directory) {
            if (rules.ignores_entry(path, is_directory)) return true;
            if (!is_directory || !is_home(project / path)) return false;
            homes.lock()->emplace(path);
            return true;
        };
    } else {
        options.git = snapshot::SnapshotOptions::Git::skip;
        options.ignore.ignored = [&part](std::string_view path, bool is_directory) {
            return !leads_to(*part, path, is_directory);
        };
    }
    std::atomic<std::int64_t> last_told{boot_milliseconds()};
    options.on_progress = [&tell, &last_told](const snapshot::Progress& progress) {
        const auto now = boot_milliseconds();
        auto last = last_told.load();
        if (now - last < 500 || !last_told.compare_exchange_strong(last, now)) return;
        tell(fmt::format("snapshot: {} files, {}", progress.files, byte_size_text(progress.bytes)));
    };
    auto report = TRY(snapshot::take_snapshot(context.objects, options));
    for (const auto& home : *homes.lock())
        report.notices.push_back("'" + printable(home) +
                                 "' contains ponk's own data and was left out");
    return report;
}

}  // namespace ponk::engine
