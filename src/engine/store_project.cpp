// SPDX-License-Identifier: Apache-2.0
#include "engine/store_project.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "config/ignore_rules.hpp"

#include <fmt/format.h>

#include <atomic>

namespace ponk::engine {

namespace {

// Changes whenever the rules do, so that the walk can trust what it remembers of a folder.
std::string fingerprint(const Path& project, const config::IgnoreRules& rules)
{
    std::string text(config::IgnoreRules::base_rules());
    if (!rules.source().empty()) {
        const auto lines = os::read_file(project / rules.source());
        text += rules.source() + "\n" + lines.value_or("");
    }
    return sha256(text).text();
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
    const auto rules = TRY(config::IgnoreRules::load(project));
    snapshot::SnapshotOptions options;
    options.directory = project;
    options.stop = std::move(stop);
    options.ignore.fingerprint = fingerprint(project, rules);
    if (!part) {
        TRY(os::make_directories(context.home / "cache" / "stat"));
        options.cache_file = context.home / "cache" / "stat" / sha256(project.native()).text();
        options.ignore.ignored = [&rules](std::string_view path, bool is_directory) {
            return rules.ignores_entry(path, is_directory);
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
    return snapshot::take_snapshot(context.objects, options);
}

}  // namespace ponk::engine
