// SPDX-License-Identifier: Apache-2.0
#include "executor/events/event_places.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "executor/events/event_files.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/journals.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "model/metric_journal.hpp"
#include "os/tree.hpp"

#include <algorithm>
#include <fcntl.h>
#include <functional>
#include <set>
#include <unistd.h>

namespace ponk::executor {

namespace {

constexpr const char* file_name = "tensorboard.journal";
constexpr std::size_t block = 2 * model::journal_record_limit;
constexpr std::size_t most_notices = 10;

std::uint64_t natural(const Json& record, std::string_view key)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, record.integer(key)));
}

bool add_place(std::string_view payload, EventPlaces& places)
{
    const auto record = parse_json(payload);
    if (!record || !(*record)["tensorboard"].is_string()) return record.has_value();
    places.set({.path = record->text("tensorboard"),
                .inode = natural(*record, "inode"),
                .head = record->text("head"),
                .next = natural(*record, "next"),
                .skip = natural(*record, "skip"),
                .others = natural(*record, "others"),
                .damage = record->text("damage")});
    return true;
}

Result<EventPlaces> read_places_of(int file)
{
    os::FileStatus status;
    if (const int problem = os::status_of(file, status); problem != 0)
        return fail_errno(problem, "check '{}'", file_name);
    EventPlaces places;
    places.length = status.size;
    for (std::uint64_t offset = 0; offset < std::min(status.size, Journals::longest);) {
        const auto bytes = TRY(os::read_at(file, offset, block));
        const auto scan = model::scan_journal(
            bytes, offset, [&](std::string_view payload) { return add_place(payload, places); });
        if (scan.next == offset) break;  // a tail whose end was never written
        offset = scan.next;
    }
    return places;
}

}  // namespace

Json to_json(const EventPlace& place)
{
    JsonObject out{{"tensorboard", place.path},
                   {"inode", place.inode},
                   {"head", place.head},
                   {"next", place.next}};
    if (place.skip > 0) out.set("skip", place.skip);
    if (place.others > 0) out.set("others", place.others);
    if (!place.damage.empty()) out.set("damage", place.damage);
    return out;
}

EventPlace* EventPlaces::find(const std::string& path, std::uint64_t inode, const std::string& head)
{
    const auto fits = [&](auto&& also) {
        const auto found = std::ranges::find_if(
            list, [&](const EventPlace& place) { return place.head == head && also(place); });
        return found == list.end() ? nullptr : &*found;
    };
    if (auto* const same = fits([&](const EventPlace& place) { return place.path == path; }))
        return same;
    return fits([&](const EventPlace& place) { return place.inode == inode; });
}

void EventPlaces::set(const EventPlace& place)
{
    if (auto* const known = find(place.path, place.inode, place.head)) {
        *known = place;
    } else if (list.size() < 100'000) {
        list.push_back(place);
    }
}

Result<std::optional<EventJournal>> EventJournal::open(const RunDirectory& directory)
{
    const auto folder =
        TRY(RunFolder::open(directory.root(), RunDirectory::task_part() / control::journal));
    os::Fd file(::openat(folder.fd(),
                         file_name,
                         O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                         0600));
    if (!file) return fail_errno(errno, "open '{}'", file_name);
    os::FileStatus status;
    if (os::status_of(file.get(), status) != 0 || !status.is_file())
        return fail(ErrorKind::conflict, "'{}' is not a file", file_name);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    if (::fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
        if (errno == EAGAIN || errno == EACCES) return std::nullopt;
        return fail_errno(errno, "lock '{}'", file_name);
    }
    return EventJournal(std::move(file));
}

Result<std::uint64_t> EventJournal::length() const
{
    os::FileStatus status;
    if (const int problem = os::status_of(file_.get(), status); problem != 0)
        return fail_errno(problem, "check '{}'", file_name);
    return status.size;
}

Result<EventPlaces> EventJournal::read_places() const
{
    return read_places_of(file_.get());
}

Result<> EventJournal::write(const Json& payload, EventPlaces& places)
{
    std::string bytes;
    if (places.length == 0)
        bytes = model::journal_record(
            JsonObject{{"journal", 1}, {"pid", ::getpid()}, {"time", wall_milliseconds()}});
    bytes += model::journal_record(payload);
    TRY(os::write_all(file_.get(), bytes));
    places.length += bytes.size();
    return {};
}

std::optional<std::string> usual_folders_notice(const RunDirectory& directory)
{
    const auto file = Journals::of(directory).open(file_name);
    const auto places = file ? read_places_of(file->get()) : Result<EventPlaces>();
    if (!places) return std::nullopt;
    const auto named = read_event_folders(directory).folder;
    std::set<std::string, std::less<>> folders;
    for (const auto& place : places->list) {
        if (const auto usual = usual_folder_of(place.path, named); !usual.empty())
            folders.emplace(usual);
    }
    if (folders.empty()) return std::nullopt;
    return fmt::format("metrics come from TensorBoard files in '{}'",
                       join({folders.begin(), folders.end()}, "', '"));
}

Notices event_file_notices(const RunDirectory& directory)
{
    Notices notices;
    const auto file = Journals::of(directory).open(file_name);
    const auto places = file ? read_places_of(file->get()) : Result<EventPlaces>();
    if (!places) return notices;
    std::size_t more = 0;
    for (const auto& place : places->list) {
        if (place.damage.empty()) continue;
        if (notices.size() == most_notices) {
            ++more;
            continue;
        }
        notices.push_back(fmt::format("TensorBoard file {}: {}; the rest was not read",
                                      os::in_quotes(place.path),
                                      printable(place.damage)));
    }
    if (more > 0)
        notices.push_back(fmt::format("{} more TensorBoard files were not read completely", more));
    return notices;
}

}  // namespace ponk::executor
