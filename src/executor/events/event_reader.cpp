// SPDX-License-Identifier: Apache-2.0
#include "executor/events/event_reader.hpp"

#include "executor/run_directory/journals.hpp"
#include "executor/run_directory/run_files.hpp"
#include "model/event_file.hpp"
#include "os/tree.hpp"
#include "os/wait.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ponk::executor {

using namespace std::chrono_literals;

namespace {

// Of one step: others want to be served too.
constexpr std::uint64_t bytes_of_a_step = std::uint64_t{16} << 20;
constexpr std::size_t block = std::size_t{1} << 20;
// A record of the journal must stay below its limit, whatever the names are.
constexpr std::size_t size_of_a_record = std::size_t{256} << 10;
// Read without a number: written down all the same, so that nobody has to read it again.
constexpr std::uint64_t silence = std::uint64_t{16} << 20;
// How often is looked, when there are event files and when there are none.
constexpr auto live_pause = 500ms;
constexpr auto idle_pause = 2s;
constexpr int share_of_time = 20;  // looking takes at most a twentieth of it
constexpr auto longest_end = 5min;

Json number(double value)
{
    if (std::isfinite(value)) return value;
    if (std::isnan(value)) return "NaN";
    return value > 0 ? "Infinity" : "-Infinity";
}

}  // namespace

// The reading of one event file from its place on. Numbers wait for a record of the journal that is
// worth it, together with the place behind them.
class EventReader::Reading {
public:
    Reading(EventJournal& journal,
            EventPlaces& places,
            const EventFile& file,
            EventPlace place,
            int fd,
            std::uint64_t size)
        : journal_(journal), places_(places), file_(file), place_(std::move(place)), fd_(fd),
          size_(size), written_(place_.next)
    {
    }

    // To the end of the file, or until the budget is used up.
    Result<> read(std::uint64_t& budget)
    {
        while (budget > 0) {
            const auto record = TRY(read_record());
            if (record == 0) break;
            budget -= std::min(budget, record);
        }
        if (!points_.empty()) TRY(flush());
        places_.set(place_);
        return {};
    }

private:
    // The size of the record that was read; 0: there is none now.
    Result<std::uint64_t> read_record()
    {
        const auto at = place_.next;
        if (!place_.damage.empty() || size_ < at + model::event_head_size) return 0;
        const auto head = TRY(bytes(model::event_head_size));
        if (head.empty()) return 0;
        const auto size = model::event_record_size(head);
        if (!size) return end("a damaged record");
        if (size_ - at < *size) return 0;  // it is being written
        if (*size > model::event_size_read) return pass_over(*size);
        const auto record = TRY(bytes(*size));
        if (record.empty()) return 0;
        const auto event = model::event_of_record(record);
        if (!event) return end("a damaged record");
        const auto parsed = model::parse_event(*event);
        if (!parsed) return pass_over(*size);
        TRY(add(*parsed));
        return pass(*size);
    }

    // So many from the place on; none when they are not there.
    Result<std::string_view> bytes(std::size_t count)
    {
        const auto at = place_.next;
        const bool have = at >= begin_ && at - begin_ <= buffer_.size() &&
                          buffer_.size() - (at - begin_) >= count;
        if (!have) {
            buffer_ = TRY(os::read_at(fd_, at, std::max(block, count)));
            begin_ = at;
        }
        if (buffer_.size() - (at - begin_) < count) return std::string_view();
        return std::string_view(buffer_).substr(at - begin_, count);
    }

    Result<> add(const model::Event& event)
    {
        for (auto i = place_.skip; i < event.scalars.size(); ++i) {
            const auto& scalar = event.scalars[i];
            auto key = model::metric_of_tag(file_.prefix, scalar.tag);
            if (!key.empty()) {
                text_size_ += 3 * key.size() + 100;
                points_.emplace_back(
                    JsonArray{std::move(key), number(scalar.value), event.step, event.time});
            }
            ++place_.skip;
            if (text_size_ >= size_of_a_record) TRY(flush());
        }
        place_.others += event.others;
        return {};
    }

    Result<std::uint64_t> pass_over(std::uint64_t size)
    {
        ++place_.others;
        return pass(size);
    }

    Result<std::uint64_t> pass(std::uint64_t size)
    {
        place_.next += size;
        place_.skip = 0;
        if (place_.next - written_ >= silence) TRY(flush());
        return size;
    }

    Result<std::uint64_t> end(const char* damage)
    {
        place_.damage = damage;
        TRY(flush());
        return 0;
    }

    Result<> flush()
    {
        auto payload = to_json(place_);
        payload.as_object().set("points", std::exchange(points_, JsonArray()));
        text_size_ = 0;
        TRY(journal_.write(payload, places_));
        places_.set(place_);
        written_ = place_.next;
        return {};
    }

    EventJournal& journal_;
    EventPlaces& places_;
    const EventFile& file_;
    EventPlace place_;  // behind what is in `points_`
    int fd_;
    std::uint64_t size_;
    std::uint64_t written_;  // the offset that the journal knows
    JsonArray points_;
    std::size_t text_size_ = 0;  // of their text, at most
    std::string buffer_;
    std::uint64_t begin_ = 0;  // of the buffer, in the file
};

EventReader::EventReader(RunDirectory directory)
    : directory_(std::move(directory)), folders_(read_event_folders(directory_))
{
}

bool EventReader::was_before(const std::string& path, const std::string& head) const
{
    return std::ranges::find(folders_.before, std::pair(path, head)) != folders_.before.end();
}

EventReader::Progress EventReader::read_some()
{
    const std::lock_guard lock(mutex_);
    const auto files = find_event_files(directory_, folders_.folder);
    has_files_ = !files.empty();
    if (files.empty()) return Progress::done;
    auto journal = EventJournal::open(directory_);
    if (!journal) return Progress::failed;
    if (!*journal) return Progress::busy;
    const auto length = (*journal)->length();
    if (!length) return Progress::failed;
    if (*length >= Journals::longest) return Progress::done;  // its reader says so
    // Another process has written, or we were stopped in the middle of it.
    if (*length != places_.length) {
        auto places = (*journal)->read_places();
        if (!places) return Progress::failed;
        places_ = std::move(*places);
    }
    std::uint64_t budget = bytes_of_a_step;
    for (const auto& file : files) {
        if (!read_file(**journal, file, budget)) {
            // What the journal holds counts then, not what we believe.
            places_.length = ~std::uint64_t{0};
            return Progress::failed;
        }
        if (budget == 0) return Progress::more;
    }
    return Progress::done;
}

Result<> EventReader::read_file(EventJournal& journal, const EventFile& file, std::uint64_t& budget)
{
    // Without a look at the file itself: nothing is new.
    const auto same = std::ranges::find_if(places_.list, [&](const EventPlace& place) {
        return place.path == file.path && place.inode == file.inode && place.next == file.size;
    });
    if (same != places_.list.end()) return {};
    const auto fd = open_event_file(directory_, file);
    os::FileStatus status;
    if (!fd || os::status_of(fd->get(), status) != 0) return {};
    const auto head = head_of_event_file(fd->get(), status.size);
    if (!head || was_before(file.path, *head)) return {};
    const auto* const known = places_.find(file.path, status.inode, *head);
    if (known != nullptr && !known->damage.empty()) return {};
    auto place = known != nullptr ? *known : EventPlace();
    place.path = file.path;
    place.inode = status.inode;
    place.head = *head;
    return Reading(journal, places_, file, std::move(place), fd->get(), status.size).read(budget);
}

Result<>
EventReaders::follow(const RunDirectory& directory, JobStatus& status, const std::stop_token& stop)
{
    const bool over = status.phase == JobPhase::ended || status.phase == JobPhase::lost;
    if (over) {
        if (!TRY(read_all(directory, stop)) && status.reason.empty())
            status.reason = "its TensorBoard files were not read completely: it took too long, or "
                            "the disk is full";
        followers_.lock()->erase(directory.root().string());
        read_lengths(directory, status);
        return {};
    }
    if (status.phase != JobPhase::running) return {};
    std::shared_ptr<Follower> follower;
    {
        auto followers = followers_.lock();
        auto& entry = (*followers)[directory.root().string()];
        if (!entry) entry = std::make_shared<Follower>(directory);
        follower = entry;
    }
    const auto begin = Deadline::clock::now();
    if (follower->next.load() > begin) return {};
    const auto progress = follower->reader.read_some();
    const auto end = Deadline::clock::now();
    const std::chrono::milliseconds pause = follower->reader.has_files() ? live_pause : idle_pause;
    follower->next = progress == EventReader::Progress::more
                         ? end
                         : end + std::max<Deadline::duration>(pause, (end - begin) * share_of_time);
    read_lengths(directory, status);
    return {};
}

Deadline EventReaders::due(const RunDirectory& directory) const
{
    const auto followers = followers_.lock();
    const auto found = followers->find(directory.root().string());
    return found == followers->end() ? after(idle_pause) : found->second->next.load();
}

Result<bool> EventReaders::read_all(const RunDirectory& directory, const std::stop_token& stop)
{
    EventReader reader(directory);
    const auto limit = after(longest_end);
    for (;;) {
        const auto progress = reader.read_some();
        if (progress == EventReader::Progress::done) return true;
        if (progress == EventReader::Progress::failed) return false;
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
        if (Deadline::clock::now() >= limit) return false;
        if (progress == EventReader::Progress::busy) os::sleep_for(50ms, stop);
    }
}

}  // namespace ponk::executor
