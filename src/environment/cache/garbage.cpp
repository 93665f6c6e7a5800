// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "environment/cache/cache.hpp"
#include "os/directory.hpp"
#include "os/disk_use.hpp"
#include "os/tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// What leaves the cache, and how large its members are.
namespace ponk::environment {

namespace {

using os::FileLock;

std::string still_held(const Record& record, const std::vector<std::string>& holders)
{
    return fmt::format("environment '{}' is kept: stopped container '{}'{} uses its layers; 'ponk "
                       "experiment clean RUN' removes the container of a run",
                       record.id,
                       printable(holders.front()),
                       holders.size() == 1 ? "" : fmt::format(" and {} more", holders.size() - 1));
}

}  // namespace

Result<std::int64_t> size_on_disk(const Path& folder)
{
    TRY(os::open_file(folder, O_RDONLY | O_DIRECTORY));
    return static_cast<std::int64_t>(os::disk_use(folder).bytes);
}

Result<Removal> Cache::remove(const Record& record, const RemoveImage& remove_image) const
{
    // A run that has just ended keeps it until its supervisor has gone, too.
    const auto lock = FileLock::take(
        lock_path(record.id), FileLock::Kind::exclusive, after(std::chrono::seconds(2)), {});
    if (!lock) {
        if (lock.error().kind() != ErrorKind::timeout) return tl::unexpected(lock.error());
        return tl::unexpected(Error(ErrorKind::conflict,
                                    fmt::format("environment '{}' is in use", record.id),
                                    "Wait for the runs that use it, or cancel them."));
    }
    Removal removal;
    if (record.form == Form::image && remove_image) removal.held_by = TRY(remove_image(record));
    if (removal.held_by.empty()) removal.freed = record.size;
    // Without its record it is no environment any more, however far the removal comes.
    const auto path = folder(record.id);
    if (::unlink((path / "environment.json").c_str()) != 0 && errno != ENOENT)
        return fail_errno(errno, "remove environment '{}'", record.id);
    TRY(os::remove_tree(path));
    return removal;
}

void Cache::remove_unfinished() const
{
    const auto names = ids();
    if (!names) return;
    for (const auto& id : *names) {
        const auto lock = FileLock::try_take(lock_path(id), FileLock::Kind::exclusive);
        if (!lock || !*lock) continue;  // somebody builds it
        const auto record = find(id);
        if (record && !*record) static_cast<void>(os::remove_tree(folder(id)));
    }
}

Result<GarbageResult> Cache::collect_garbage(const GarbageRules& rules,
                                             const RemoveImage& remove_image) const
{
    remove_unfinished();
    auto entries = TRY(list());
    if (rules.form)
        std::erase_if(entries,
                      [&](const Entry& entry) { return entry.record.form != *rules.form; });
    std::int64_t total = 0;
    for (const auto& entry : entries)
        total += entry.record.size;
    const auto oldest =
        rules.largest_age.count() > 0
            ? wall_milliseconds() -
                  std::chrono::duration_cast<std::chrono::milliseconds>(rules.largest_age).count()
            : 0;
    GarbageResult result;
    // From the one that was used longest ago.
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        const bool too_old = entry->last_used < oldest;
        const bool too_much =
            rules.largest_size > 0 && total > static_cast<std::int64_t>(rules.largest_size);
        if ((!too_old && !too_much) || entry->in_use || rules.keep.contains(entry->record.id))
            continue;
        if (!too_old && rules.holders) {
            const auto holders = rules.holders(entry->record);
            if (holders && !holders->empty()) {
                result.problems.push_back(still_held(entry->record, *holders));
                continue;
            }
        }
        const auto removed = remove(entry->record, remove_image);
        if (!removed) {
            result.problems.push_back(removed.error().message());
            continue;
        }
        total -= removed->freed;
        result.freed += removed->freed;
        result.removed.push_back(*entry);
    }
    return result;
}

}  // namespace ponk::environment
