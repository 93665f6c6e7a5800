// SPDX-License-Identifier: Apache-2.0
#include "audit/audit_log.hpp"

#include "audit/last_record.hpp"
#include "base/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ponk::audit {

using namespace std::chrono_literals;

namespace {

// Records of one second are synced together.
constexpr auto pause = 1s;
// Different ones of a caller that only logs: routes times addresses.
constexpr std::size_t most_counted = 1000;

// In memory that is used again.
const std::string& key_of(const Counting& call)
{
    static thread_local std::string key;
    key.clear();
    for (const auto part : {call.who, call.peer, call.method, call.prefix, call.pattern}) {
        key += part;
        key += '\n';
    }
    return key;
}

Record summary_of(const Counting& call)
{
    Record record;
    record.kind = "summary";
    record.who = call.who;
    record.listener = call.listener;
    record.peer = call.peer;
    record.method = call.method;
    record.route = std::string(call.prefix) + std::string(call.pattern);
    return record;
}

bool is_same_day(std::int64_t one, std::int64_t other)
{
    constexpr std::int64_t day = 86'400'000;
    return one / day == other / day;
}

Record event(std::string kind, std::string text)
{
    Record record;
    record.time = wall_milliseconds();
    record.kind = std::move(kind);
    record.text = std::move(text);
    return record;
}

}  // namespace

AuditLog::AuditLog(Path home, Tell tell, Limits limits)
    : home_(std::move(home)), tell_(std::move(tell)), limits_(limits),
      waiting_(Waiting{.usage = Usage(limits.daily),
                       .calls = Tally(most_counted),
                       .repeats = Tally(limits.kinds)})
{
    if (const auto done = take_up(); !done) note_problem(done.error());
    thread_ = std::thread([this] { serve(); });
}

AuditLog::~AuditLog()
{
    waiting_.lock()->ends = true;
    changed_.notify_one();
    thread_.join();
}

// Goes on where the last writer ended, whatever ended it.
Result<> AuditLog::take_up()
{
    head_ = {};
    TRY(os::make_directories(folder_of(home_)));
    auto files = TRY(list_files(home_));
    const auto text = TRY(os::read_file_if_any(head_file(home_), 4096));
    const auto noted = text ? parse_head(*text) : Result<Head>(Head());
    // There before the first record: later, one that is missing was removed.
    if (!text && files.empty()) TRY(os::replace_file(head_file(home_), head_text(Head())));
    std::vector<Record> events;
    if (!files.empty()) {
        const auto cut = TRY(cut_torn_line(files.back()));
        if (cut > 0)
            events.push_back(event(
                "repaired",
                fmt::format("the last line was not complete: its {} bytes were removed", cut)));
    }
    for (auto file = files.rbegin(); file != files.rend() && head_.number == 0; ++file) {
        if (const auto last = TRY(find_last_record(*file))) head_ = last->head;
    }
    if (!noted || (!text && !files.empty())) {
        events.push_back(event("headless", "'audit.head' was not there or could not be read"));
    } else if (noted->number > head_.number) {
        events.push_back(
            event("missing",
                  fmt::format("records {} to {} were missing", head_.number + 1, noted->number)));
        head_ = *noted;
    } else if (noted->number == head_.number && noted->hash != head_.hash) {
        events.push_back(event("missing", fmt::format("record {} was another one", head_.number)));
    }
    TRY(open_file(files.empty() ? 1 : files.back().number));
    for (const auto& one : events) {
        if (tell_) tell_("audit log: " + one.text);
        TRY(append_line(one));
    }
    if (!events.empty()) waiting_.lock()->written = true;
    measure_usage(files);
    return {};
}

void AuditLog::measure_usage(const std::vector<LogFile>& files)
{
    const auto now = wall_milliseconds();
    Usage usage(limits_.daily);
    for (auto file = files.rbegin(); file != files.rend(); ++file) {
        if (!is_same_day(file->modified, now)) break;
        const auto count = [&](std::string_view line, std::int64_t) -> Result<> {
            const auto noted = skim_line(line);
            if (is_same_day(noted.time, now)) usage.add(noted.who, now, line.size() + 1);
            return {};
        };
        if (!for_each_line(file->path, count)) break;
    }
    waiting_.lock()->usage = std::move(usage);
}

bool AuditLog::begins_kind(Waiting& waiting, const Record& record, Share share)
{
    if (waiting.since == 0) waiting.since = boot_milliseconds();
    const bool is_refused = record.outcome == "refused";
    // A refused caller tries one address after another: its routes are not told apart.
    const auto key = fmt::format("{}\n{}\n{}\n{}\n{}",
                                 record.who,
                                 record.peer,
                                 record.status,
                                 is_refused ? "" : record.method,
                                 is_refused ? "" : record.route);
    if (waiting.repeats.count(key)) return false;
    auto about = record;
    about.object = {};
    if (is_refused) {
        about.method.clear();
        about.route.clear();
    }
    return waiting.repeats.begin(key, about, share);
}

void AuditLog::write(Record record)
{
    {
        auto waiting = waiting_.lock();
        const auto share = waiting->usage.share_of(record.who, record.time);
        const bool repeats = record.outcome == "failed" || share != Share::lines;
        if (repeats && !begins_kind(*waiting, record, share)) {
            changed_.notify_one();
            return;
        }
    }
    {
        const std::lock_guard lock(writing_);
        // What came before is written before.
        auto records = std::exchange(waiting_.lock()->records, {});
        records.push_back(std::move(record));
        append(records);
    }
    auto waiting = waiting_.lock();
    if (!std::exchange(waiting->written, true)) changed_.notify_one();
}

void AuditLog::count(const Counting& call)
{
    const auto& key = key_of(call);
    auto waiting = waiting_.lock();
    if (waiting->calls.count(key)) return;
    if (waiting->since == 0) waiting->since = boot_milliseconds();
    const auto share = waiting->usage.share_of(call.who, wall_milliseconds());
    if (waiting->calls.begin(key, summary_of(call), share)) waiting->calls.count(key);
    changed_.notify_one();
}

void AuditLog::refuse(Record record)
{
    auto waiting = waiting_.lock();
    const auto share = waiting->usage.share_of(record.who, record.time);
    if (begins_kind(*waiting, record, share)) waiting->records.push_back(std::move(record));
    changed_.notify_one();
}

std::vector<Record> AuditLog::take_waiting(Counts counts)
{
    auto waiting = waiting_.lock();
    auto records = std::exchange(waiting->records, {});
    if (waiting->since == 0) return records;
    const bool due = boot_milliseconds() - waiting->since >= limits_.window.count();
    if (counts == Counts::when_due && !due) return records;
    for (auto* tally : {&waiting->calls, &waiting->repeats})
        tally->take_into(records, wall_milliseconds());
    waiting->since = 0;
    return records;
}

void AuditLog::write_waiting(Counts counts)
{
    const std::lock_guard lock(writing_);
    const auto records = take_waiting(counts);
    if (records.empty()) return;
    append(records);
    waiting_.lock()->written = true;
}

void AuditLog::flush()
{
    write_waiting(Counts::now);
    sync();
}

void AuditLog::serve()
{
    ::pthread_setname_np(::pthread_self(), "ponk-audit");
    for (;;) {
        bool ends = false;
        {
            auto waiting = waiting_.lock();
            changed_.wait(waiting.native(),
                          [&waiting] { return waiting->ends || waiting->has_work(); });
            changed_.wait_for(waiting.native(), pause, [&waiting] { return waiting->ends; });
            ends = waiting->ends;
        }
        write_waiting(ends ? Counts::now : Counts::when_due);
        sync();
        if (ends) return;
    }
}

void AuditLog::append(const std::vector<Record>& records)
{
    for (const auto& record : records) {
        if (lost_ > 0) {
            auto loss = event("lost", "these records could not be written: " + problem_);
            loss.count = lost_;
            if (append_line(loss)) lost_ = 0;
        }
        const auto done = append_measured(record);
        if (done) continue;
        ++lost_;
        note_problem(done.error());
    }
    if (lost_ == 0) problem_.clear();
}

// With the line that says that a caller's share has become smaller.
Result<> AuditLog::append_measured(const Record& record)
{
    const auto size = TRY(append_line(record));
    const auto share_after = [&](std::uint64_t bytes) {
        auto waiting = waiting_.lock();
        waiting->usage.add(record.who, record.time, bytes);
        return waiting->usage.share_of(record.who, record.time);
    };
    const auto before = share_after(0);
    const auto after = share_after(size);
    if (before == after) return {};
    auto limited = event("limited",
                         after == Share::firsts
                             ? "it has had half of its share of this day: of its calls the first "
                               "of a kind in a minute has a line, the others are counted"
                             : "it has had its share of this day: its calls of a minute are one "
                               "line");
    limited.time = record.time;
    limited.who = account_of(record.who);
    TRY(append_line(limited));
    return {};
}

void AuditLog::note_problem(const Error& error)
{
    if (error.message() == std::exchange(problem_, error.message())) return;
    if (tell_) tell_("audit log: " + error.message());
}

Result<std::uint64_t> AuditLog::append_line(const Record& record)
{
    if (!file_) TRY(take_up());
    if (size_ >= limits_.file) TRY(open_next());
    Head head = head_;
    const auto line = line_of(record, head);
    const auto done = os::write_all(file_.get(), line);
    if (!done) {
        // A part of a line would be taken for a change by somebody else. Opening the file again
        // repairs what cannot be cut off now.
        if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) file_ = os::Fd();
        return tl::unexpected(
            done.error().within("write " + os::in_quotes(file_of(home_, number_))));
    }
    size_ += line.size();
    head_ = std::move(head);
    return line.size();
}

Result<> AuditLog::open_file(std::int64_t number)
{
    const auto path = file_of(home_, number);
    auto file = TRY(os::open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0)
        return fail_errno(errno, "look at {}", os::in_quotes(path));
    if (info.st_size == 0) TRY(os::sync_directory(folder_of(home_)));  // its name is new
    file_ = std::move(file);
    number_ = number;
    size_ = static_cast<std::uint64_t>(info.st_size);
    return {};
}

Result<> AuditLog::open_next()
{
    if (::fdatasync(file_.get()) != 0) return fail_errno(errno, "sync the audit log");
    TRY(open_file(number_ + 1));
    return remove_oldest();
}

// The log says itself what was removed: else it would look as if somebody had done it.
Result<> AuditLog::remove_oldest()
{
    const auto files = TRY(list_files(home_));
    std::uint64_t total = limits_.file;  // of the new one
    for (const auto& file : files)
        total += file.size;
    for (const auto& file : files) {
        if (total <= limits_.total || file.number == number_) break;
        total -= file.size;
        const auto last = TRY(find_last_record(file)).value_or(LastRecord());
        auto removal = event("removed", "the log has reached its size");
        removal.object = JsonObject{{"file", file.path.filename().native()},
                                    {"last", last.head.number},
                                    {"hash", last.head.hash},
                                    {"until", last.time}};
        TRY(append_line(removal));
        if (::fdatasync(file_.get()) != 0) return fail_errno(errno, "sync the audit log");
        if (::unlink(file.path.c_str()) != 0)
            return fail_errno(errno, "remove {}", os::in_quotes(file.path));
    }
    return {};
}

void AuditLog::sync()
{
    const std::lock_guard one(syncing_);
    if (!std::exchange(waiting_.lock()->written, false)) return;
    os::Fd file;
    Head head;
    {
        const std::lock_guard lock(writing_);
        file = os::Fd(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
        head = head_;
    }
    if (!file) return;
    // Never ahead of what is on disk: a crash must not look like a theft.
    const auto replaced =
        ::fdatasync(file.get()) == 0
            ? os::replace_file(head_file(home_), head_text(head), 0600, os::Durable::content)
            : Result<>(fail_errno(errno, "sync the audit log"));
    if (replaced) return;
    const std::lock_guard lock(writing_);
    note_problem(replaced.error());
}

}  // namespace ponk::audit
