// SPDX-License-Identifier: Apache-2.0
#include "engine/run/store_project.hpp"

#include "base/synced.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/ignore/travel_rules.hpp"
#include "config/ignore/what_travels.hpp"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace ponk::engine {

namespace {

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

// Tells about a snapshot that takes long: how much there is, before anything is read, and how far
// it has come.
class ProgressLines {
public:
    explicit ProgressLines(const Tell& tell) : tell_(tell) {}

    void begin(const config::WhatTravels& size)
    {
        total_ = size.bytes;
        began_ = boot_milliseconds();
        if (size.bytes < large_bytes && size.files < large_files) return;
        std::vector<std::string> parts;
        for (const auto& part : size.largest)
            parts.push_back(printable(part.name) + " " + byte_size_text(part.bytes));
        tell_(
            "notice",
            fmt::format("first snapshot: {} files, {} ({}). Later ones read only what changed. To "
                        "leave files out, list them in .amlignore; 'ponk submit --input PATH' "
                        "links data instead of storing it",
                        size.files,
                        byte_size_text(size.bytes),
                        join(parts, ", ")));
    }

    void show(const snapshot::Progress& progress)
    {
        const auto now = boot_milliseconds();
        auto last = last_told_.load();
        if (now - last < 500 || !last_told_.compare_exchange_strong(last, now)) return;
        auto line =
            fmt::format("snapshot: {} files, {}", progress.files, byte_size_text(progress.bytes));
        if (total_ >= large_bytes && progress.bytes > 0 && progress.bytes < total_) {
            const auto spent = static_cast<std::uint64_t>(now - began_);
            const auto left = spent * (total_ - progress.bytes) / progress.bytes / 1000;
            line += fmt::format(" of {}, about {} s left", byte_size_text(total_), left + 1);
        }
        tell_("progress", line);
    }

private:
    static constexpr std::uint64_t large_bytes = std::uint64_t{256} << 20;
    static constexpr std::uint64_t large_files = 20'000;

    const Tell& tell_;
    std::uint64_t total_ = 0;
    std::int64_t began_ = 0;
    std::atomic<std::int64_t> last_told_{boot_milliseconds()};
};

}  // namespace

Result<snapshot::SnapshotReport> store_project(const Context& context,
                                               const Path& project,
                                               const std::optional<std::string>& part,
                                               const Tell& tell,
                                               std::stop_token stop)
{
    if (is_home(project)) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    os::in_quotes(project) + " contains ponk's own data",
                                    "Put the script into another folder."));
    }
    const auto rules = TRY(config::TravelRules::load(project));
    Synced<std::set<std::string>> homes;
    snapshot::SnapshotOptions options;
    options.directory = project;
    options.stop = std::move(stop);
    if (!part) {
        options.ignore.rules = &rules;
        options.ignore.fingerprint = rules.fingerprint();
        TRY(os::make_directories(context.home / "cache" / "stat"));
        options.cache_file = context.home / "cache" / "stat" / sha256(project.native()).text();
        options.ignore.ignored = [&](std::string_view path, bool is_directory) {
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
    ProgressLines lines(tell);
    std::error_code problem;
    if (!part && !std::filesystem::exists(options.cache_file, problem)) {
        // What cannot be read is the snapshot's to report.
        const auto size =
            config::what_travels(project, rules, options.ignore.ignored, options.stop);
        if (size) lines.begin(*size);
    }
    options.on_progress = [&lines](const snapshot::Progress& progress) { lines.show(progress); };
    auto report = TRY(snapshot::take_snapshot(context.objects, options));
    for (const auto& home : *homes.lock())
        report.notices.push_back("'" + printable(home) +
                                 "' contains ponk's own data and was left out");
    return report;
}

}  // namespace ponk::engine
