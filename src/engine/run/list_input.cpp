// SPDX-License-Identifier: Apache-2.0
#include "engine/run/list_input.hpp"

#include "base/text.hpp"
#include "base/time.hpp"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>

namespace ponk::engine {

namespace {

constexpr std::int64_t tell_every_ms = 500;

}  // namespace

Result<ListedInput> list_input(const Context& context,
                               const model::Input& input,
                               const Tell& tell,
                               std::stop_token stop)
{
    const Path source(input.source);
    std::error_code problem;
    const bool is_folder = std::filesystem::is_directory(source, problem);
    const auto name = source.filename().native();
    snapshot::SnapshotOptions options;
    options.directory = is_folder ? source : source.parent_path();
    options.contents = snapshot::SnapshotOptions::Contents::digests_only;
    options.git = snapshot::SnapshotOptions::Git::skip;
    options.stop = std::move(stop);
    if (!is_folder) {
        options.ignore.fingerprint = name;
        options.ignore.ignored = [&name](std::string_view path, bool) { return path != name; };
    }
    const auto cache = context.home / "cache" / "stat";
    TRY(os::make_directories(cache));
    options.cache_file = cache / sha256("input\n" + source.native()).text();
    std::atomic<std::int64_t> told{boot_milliseconds()};
    options.on_progress = [&](const snapshot::Progress& progress) {
        const auto now = boot_milliseconds();
        auto last = told.load();
        if (now - last < tell_every_ms || !told.compare_exchange_strong(last, now)) return;
        tell("progress",
             fmt::format("reading input '{}': {} of {}",
                         printable(input.path),
                         byte_size_text(progress.bytes),
                         byte_size_text(static_cast<std::uint64_t>(input.bytes))));
    };
    auto report =
        TRY(snapshot::take_snapshot(context.objects, options).map_error([](const Error& error) {
            return error.kind() == ErrorKind::cancelled
                       ? error
                       : error.with_hint("All files of an input for another machine must be "
                                         "readable, and must not change while they are read.");
        }));
    ListedInput listed{report.id.text(), std::move(report.lease), std::move(report.notices)};
    if (!is_folder) listed.tree += "/" + name;
    return listed;
}

}  // namespace ponk::engine
