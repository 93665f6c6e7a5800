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
// Beyond, calls of a window are counted together whoever made them.
constexpr std::size_t most_callers = 1000;

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
    : home_(std::move(home)), tell_(std::move(tell)), limits_(limits)
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
        if (const auto last = TRY(find_last_record(*file))) head_ = *last;
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
    return {};
}

void AuditLog::write(Record record)
{
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
    auto found = waiting->calls.find(key);
    if (found == waiting->calls.end()) {
        const bool is_full = waiting->calls.size() >= most_callers;
        found = waiting->calls
                    .try_emplace(is_full ? std::string() : key,
                                 Counted{summary_of(is_full ? Counting{.who = "others"} : call)})
                    .first;
        if (waiting->since == 0) waiting->since = boot_milliseconds();
        changed_.notify_one();
    }
    ++found->second.count;
    ++found->second.unwritten;
}

void AuditLog::refuse(Record record)
{
    auto waiting = waiting_.lock();
    if (waiting->since == 0) waiting->since = boot_milliseconds();
    auto key = fmt::format("{}\n{}\n{}", record.who, record.peer, record.status);
    auto found = waiting->refusals.find(key);
    if (found == waiting->refusals.end() && waiting->refusals.size() >= limits_.refusals) {
        key.clear();  // all others together
        found = waiting->refusals.find(key);
    }
    if (found != waiting->refusals.end()) {
        ++found->second.count;
        ++found->second.unwritten;
        return;
    }
    Counted counted{record, 1, 0};
    counted.about.method.clear();
    counted.about.route.clear();
    counted.about.object = {};
    if (key.empty()) {
        counted.about.who = "others";
        counted.about.peer.clear();
        counted.about.role.clear();
    }
    waiting->refusals.try_emplace(std::move(key), std::move(counted));
    waiting->records.push_back(std::move(record));
    changed_.notify_one();
}

std::vector<Record> AuditLog::take_waiting(Counts counts)
{
    auto waiting = waiting_.lock();
    auto records = std::exchange(waiting->records, {});
    if (waiting->since == 0) return records;
    const bool due = boot_milliseconds() - waiting->since >= limits_.window.count();
    if (counts == Counts::when_due && !due) return records;
    for (auto* tally : {&waiting->calls, &waiting->refusals}) {
        for (auto& [key, counted] : *tally) {
            if (counted.unwritten == 0) continue;
            auto& record = counted.about;
            record.time = wall_milliseconds();
            record.count = counted.unwritten;
            records.push_back(std::move(record));
        }
        tally->clear();
    }
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
        const auto done = append_line(record);
        if (done) continue;
        ++lost_;
        note_problem(done.error());
    }
    if (lost_ == 0) problem_.clear();
}

void AuditLog::note_problem(const Error& error)
{
    if (error.message() == std::exchange(problem_, error.message())) return;
    if (tell_) tell_("audit log: " + error.message());
}

Result<> AuditLog::append_line(const Record& record)
{
    if (!file_) TRY(take_up());
    if (size_ >= limits_.file) TRY(open_next());
    Head head = head_;
    const auto line = line_of(record, head);
    const auto done = os::write_all(file_.get(), line);
    if (!done) {
        // A part of a line would be taken for a change by somebody else.
        static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(size_)));
        return tl::unexpected(
            done.error().within("write " + os::in_quotes(file_of(home_, number_))));
    }
    size_ += line.size();
    head_ = std::move(head);
    return {};
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
        const auto last = TRY(find_last_record(file)).value_or(Head());
        auto removal = event("removed", "the log has reached its size");
        removal.object = JsonObject{
            {"file", file.path.filename().native()}, {"last", last.number}, {"hash", last.hash}};
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
