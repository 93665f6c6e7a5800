// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/queue.hpp"

#include "base/text.hpp"
#include "gpu/lease/lock_file.hpp"
#include "os/tree.hpp"
#include "os/unnamed_file.hpp"
#include "os/wait.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::gpu {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view ticket_prefix = "ticket-";
constexpr std::size_t ticket_digits = 18;
// A name whose number is so far above the one before it was made to use up the numbers.
constexpr std::uint64_t widest_gap = 1'000'000'000;
constexpr std::size_t most_told = 16;
// So many tickets are looked at by one who has a long way to go; the rest are counted.
constexpr std::size_t most_looked_at = 64;
// Whoever numbers tickets needs a millisecond. One that was stopped meanwhile must not stop all.
constexpr auto longest_numbering = 10s;

std::string ticket_name(std::uint64_t number)
{
    return fmt::format("{}{:0{}}", ticket_prefix, number, ticket_digits);
}

std::optional<std::uint64_t> number_of(std::string_view name)
{
    if (name.size() != ticket_prefix.size() + ticket_digits || !name.starts_with(ticket_prefix))
        return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, failed] =
        std::from_chars(name.data() + ticket_prefix.size(), name.data() + name.size(), number);
    if (failed != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return number;
}

// Numbers of all tickets, in order. Names that are none, or forged, are left alone.
Result<std::vector<std::uint64_t>> list_tickets(int folder)
{
    // Opened again: where a listing stands belongs to the open folder.
    const os::Fd opened(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    os::NameList list;
    if (const int failed = opened ? list.read(opened.get()) : errno)
        return fail_errno(failed, "list the tickets");
    std::vector<std::uint64_t> numbers;
    for (const auto& name : list.names())
        if (const auto number = number_of(name.text)) numbers.push_back(*number);
    std::sort(numbers.begin(), numbers.end());
    std::uint64_t before = 0;
    const auto forged = std::find_if(numbers.begin(), numbers.end(), [&before](auto number) {
        return number - std::exchange(before, number) > widest_gap;
    });
    numbers.erase(forged, numbers.end());
    return numbers;
}

struct LiveTicket {
    os::Fd fd;
    LeaseNote note;
};

// A process that was stopped cannot use its turn, so it has none until it goes on.
bool is_stopped(pid_t pid)
{
    if (pid <= 0) return false;
    const auto stat = os::read_file(fmt::format("/proc/{}/stat", pid), 4096);
    if (!stat) return false;
    const auto end = stat->rfind(") ");  // the name before may hold anything
    if (end == std::string::npos || end + 2 >= stat->size()) return false;
    const char state = (*stat)[end + 2];
    return state == 'T' || state == 't';
}

// One that cannot be opened counts for nobody.
std::optional<os::Fd> open_ticket(int folder, std::uint64_t number)
{
    auto found = find_lock_file(folder, ticket_name(number), O_RDONLY);
    return found ? std::move(*found) : std::nullopt;
}

// A ticket gets its name with its lock held, so one without a lock is a dead one's.
bool is_dead(const os::Fd& ticket)
{
    const auto locked = is_locked(ticket.get());
    return locked && !*locked;
}

// nullopt for a ticket that does not count: of a dead or a stopped process, or one that says
// nothing that can be read.
std::optional<LiveTicket> look_at(int folder, std::uint64_t number)
{
    auto fd = open_ticket(folder, number);
    if (!fd || is_dead(*fd)) return std::nullopt;
    auto note = read_lease_note(fd->get());
    if (!note || !note->selection || is_stopped(note->owner.pid)) return std::nullopt;
    return LiveTicket{std::move(*fd), std::move(*note)};
}

// One at a time gives out numbers. Without the lock (nullopt) it goes on as well, only that the
// order of those who come at the same moment is loose then.
Result<std::optional<os::Fd>> take_numbering(int folder)
{
    auto file = open_lock_file(folder, "queue");
    if (!file) return std::optional<os::Fd>();  // somebody spoilt it
    const auto deadline = after(longest_numbering);
    for (auto pause = 1ms; !TRY(try_lock(file->get(), LockKind::exclusive));
         pause = std::min<std::chrono::milliseconds>(pause * 2, 50ms)) {
        if (std::chrono::steady_clock::now() >= deadline) return std::optional<os::Fd>();
        os::sleep_for(pause, {});
    }
    return std::optional<os::Fd>(std::move(*file));
}

// Only with the numbering in hand: nobody gets the number of a removed ticket meanwhile. Tickets of
// others cannot be removed by us, nor must they. After many living ones it is enough: the oldest
// are looked at first, and all become that.
void remove_dead(int folder, const std::vector<std::uint64_t>& numbers)
{
    std::size_t living = 0;
    for (const auto number : numbers) {
        const auto name = ticket_name(number);
        struct stat info {};
        if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (::geteuid() != 0 && info.st_uid != ::geteuid()) continue;
        const auto ticket = open_ticket(folder, number);
        if (ticket && is_dead(*ticket))
            ::unlinkat(folder, name.c_str(), 0);
        else if (++living == most_looked_at)
            break;
    }
}

// What the owner of a ticket could take of the GPUs that we see.
std::vector<Device> reach_of(const Selection& selection, const std::vector<Device>& all)
{
    auto devices = LeaseFolder::candidates(selection, all);
    return devices ? std::move(*devices) : std::vector<Device>();  // it fails by itself
}

bool is_within(const Device& device, const std::vector<Device>& reach)
{
    return std::any_of(reach.begin(), reach.end(), [&](const Device& other) {
        return exclude_each_other(device, other);
    });
}

}  // namespace

std::size_t needed_of(const Selection& selection, const std::vector<Device>& candidates)
{
    return selection.kind == Selection::Kind::count ? selection.count : candidates.size();
}

bool exclude_each_other(const Device& left, const Device& right)
{
    return left.uuid == right.uuid || left.card == right.uuid || right.card == left.uuid;
}

std::chrono::milliseconds pause_of(const Waiting& waiting)
{
    return std::min<std::chrono::milliseconds>(waiting.position * 100ms, 2s);
}

Ticket& Ticket::operator=(Ticket&& other) noexcept
{
    if (this == &other) return *this;
    give_up();
    number_ = other.number_;
    file_ = std::move(other.file_);
    fd_ = std::move(other.fd_);
    selection_ = std::move(other.selection_);
    blocker_ = std::move(other.blocker_);
    seen_ = std::move(other.seen_);
    look_again_ = other.look_again_;
    return *this;
}

void Ticket::give_up() noexcept
{
    // Before the lock goes: a name without a lock would be a dead one's.
    if (fd_ && is_named(AT_FDCWD, file_.native(), fd_.get())) ::unlink(file_.c_str());
    fd_.reset();
}

Result<Ticket> LeaseFolder::queue(const Selection& selection, const Owner& owner) const
{
    const auto text = to_text(LeaseNote{.owner = owner, .selection = selection});
    if (text.size() > lease_note_limit)
        return fail(ErrorKind::invalid_argument, "too many GPUs are requested");
    const auto folder = TRY(open_lock_folder(path_));
    const auto queueing = [&]() -> Result<Ticket> {
        // Ready and locked before it has a name.
        auto file = TRY(os::UnnamedFile::create(folder.get(), 0644));
        if (::fchmod(file.fd(), 01644) != 0) return fail_errno(errno, "make a ticket");
        TRY(os::write_all(file.fd(), text));
        TRY(try_lock(file.fd(), LockKind::exclusive));
        Ticket ticket;
        ticket.selection_ = selection;
        const auto numbering = TRY(take_numbering(folder.get()));
        const auto numbers = TRY(list_tickets(folder.get()));
        if (numbering) remove_dead(folder.get(), numbers);
        auto number = numbers.empty() ? 0 : numbers.back();
        do {
            ++number;
        } while (TRY(file.link_as(ticket_name(number))) == os::UnnamedFile::Outcome::already_there);
        ticket.number_ = number;
        ticket.file_ = path_ / ticket_name(number);
        ticket.fd_ = os::Fd(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0));
        if (!ticket.fd_) {
            ::unlink(ticket.file_.c_str());
            return fail_errno(errno, "keep a ticket");
        }
        return ticket;
    };
    return queueing().map_error(while_doing("queue for GPUs in {}", os::in_quotes(path_)));
}

Result<LeaseFolder::Before> LeaseFolder::look_before(int folder,
                                                     const Ticket& ticket,
                                                     const std::vector<Device>& wanted,
                                                     const std::vector<Device>& all)
{
    Before before;
    auto numbers = TRY(list_tickets(folder));
    numbers.erase(std::lower_bound(numbers.begin(), numbers.end(), ticket.number_), numbers.end());
    const auto needed = needed_of(ticket.selection_, wanted);
    std::vector<Owner> ahead;  // the nearest one first
    const auto look = [&](std::uint64_t number) {
        auto earlier = look_at(folder, number);
        if (!earlier) return;
        const auto reach = reach_of(*earlier->note.selection, all);
        std::size_t left = wanted.size();
        for (const auto& device : wanted) {
            if (!is_within(device, reach)) continue;
            before.spoken_for.insert(device.uuid);
            --left;
        }
        if (left == wanted.size()) return;
        ++before.count;
        ahead.push_back(std::move(earlier->note.owner));
        // The nearest one: it goes last.
        if (left < needed && !before.blocker) before.blocker = std::move(earlier->fd);
    };
    while (!numbers.empty() && !(before.blocker && numbers.size() > most_looked_at)) {
        look(numbers.back());
        numbers.pop_back();
    }
    if (!numbers.empty()) {
        // We cannot go anyway: who stands between the first ones and the nearest does not matter.
        before.count += static_cast<unsigned>(numbers.size() - most_looked_at);
        ahead.clear();
        for (std::size_t i = most_looked_at; i > 0; --i)
            look(numbers[i - 1]);
    }
    std::reverse(ahead.begin(), ahead.end());
    if (ahead.size() > most_told) ahead.resize(most_told);
    before.ahead = std::move(ahead);
    return before;
}

Result<bool> LeaseFolder::needs_end_of(const std::string& run,
                                       const Ticket& ticket,
                                       const std::vector<Device>& all) const
{
    std::vector<Device> barred;
    for (const auto& device : all) {
        // A lock file that somebody spoilt tells of nobody.
        const auto is_held = [&](const std::string& uuid) {
            const auto owner = holder(uuid);
            return owner && *owner && (*owner)->run == run;
        };
        if (is_held(device.uuid) || (!device.card.empty() && is_held(device.card)))
            barred.push_back(device);
    }
    if (barred.empty()) return false;
    const auto is_stuck = [&](const Selection& selection, const std::vector<Device>& reach) {
        const auto left = std::count_if(reach.begin(), reach.end(), [&](const Device& device) {
            return !is_within(device, barred);
        });
        return static_cast<std::size_t>(left) < needed_of(selection, reach);
    };
    const auto folder = TRY(open_lock_folder(path_));
    for (const auto number : TRY(list_tickets(folder.get()))) {
        if (number >= ticket.number_) break;
        const auto earlier = look_at(folder.get(), number);
        if (!earlier) continue;
        const auto reach = reach_of(*earlier->note.selection, all);
        if (!reach.empty() && is_stuck(*earlier->note.selection, reach))
            barred.insert(barred.end(), reach.begin(), reach.end());
    }
    return is_stuck(ticket.selection_, TRY(candidates(ticket.selection_, all)));
}

Result<std::vector<std::pair<Owner, Selection>>> LeaseFolder::waiting() const
{
    const auto folder = TRY(open_lock_folder(path_));
    std::vector<std::pair<Owner, Selection>> waiting;
    for (const auto number : TRY(list_tickets(folder.get()))) {
        if (auto ticket = look_at(folder.get(), number))
            waiting.emplace_back(std::move(ticket->note.owner), std::move(*ticket->note.selection));
    }
    return waiting;
}

}  // namespace ponk::gpu
