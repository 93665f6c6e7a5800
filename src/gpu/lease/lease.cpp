// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lease.hpp"

#include "base/text.hpp"
#include "gpu/lease/lease_note.hpp"
#include "gpu/lease/lock_file.hpp"
#include "gpu/lease/queue.hpp"
#include "gpu/process_facts.hpp"
#include "os/identity.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>

namespace ponk::gpu {

namespace {

using namespace std::chrono_literals;

Result<std::string> lock_name(const std::string& uuid)
{
    const bool fit = !uuid.empty() && uuid.size() <= 200 && uuid.front() != '.' &&
                     std::all_of(uuid.begin(), uuid.end(), [](char letter) {
                         const auto byte = static_cast<unsigned char>(letter);
                         return byte > 0x20 && byte < 0x7f && letter != '/';
                     });
    if (!fit)
        return fail(ErrorKind::invalid_argument,
                    "'{}' is not the name of a GPU",
                    printable(std::string_view(uuid).substr(0, 200)));
    return uuid + ".lock";
}

// The note's process lives, and is of the user that it names. Where /proc shows nobody the
// processes of others (hidepid), one that is there is taken at its word.
bool is_present(const Owner& owner)
{
    if (owner.pid <= 0) return false;
    if (const auto rights = find_credentials("/proc", owner.pid))
        return os::user_name(rights->user) == owner.user;
    return ::kill(owner.pid, 0) != 0 && errno == EPERM;
}

// nullopt when the GPU is free. An owner that nobody noted has empty texts.
Result<std::optional<Owner>> holder_in(int folder, const std::string& uuid)
{
    const auto file = TRY(find_lock_file(folder, TRY(lock_name(uuid)), O_RDONLY));
    if (!file || !TRY(is_locked(file->get()))) return std::optional<Owner>();
    auto owner = read_lease_note(file->get()).value_or(LeaseNote{}).owner;
    owner.is_present = is_present(owner);
    return std::optional(std::move(owner));
}

std::string shown(const Device& device)
{
    return fmt::format("GPU {} ({})", device.index, printable(device.uuid));
}

std::string sentence(const Device& wanted, const Device& held, const Owner& owner)
{
    auto text = shown(wanted) + " is leased";
    if (held.uuid != wanted.uuid)
        text = fmt::format("{} waits for {}, which is leased",
                           shown(wanted),
                           held.uuid == wanted.card ? "its card" : "its part " + held.uuid);
    if (owner.user.empty()) return text;
    text += owner.is_present ? " by " : "; its last known user was ";
    text += owner.user;
    if (!owner.run.empty()) text += " for run " + owner.run;
    if (owner.since > 0) text += " since " + utc_text(owner.since);
    return text;
}

// Why the GPU cannot be leased now, as a sentence; nullopt when it can.
Result<std::optional<std::string>>
find_obstacle(int folder, const Device& device, const std::vector<Device>& all)
{
    const auto held_by = [&device](const Device& held, const Owner& owner) {
        return std::optional(sentence(device, held, owner));
    };
    if (const auto owner = TRY(holder_in(folder, device.uuid))) return held_by(device, *owner);
    // A card and its instances exclude each other.
    for (const auto& other : all) {
        if (other.uuid == device.uuid || !exclude_each_other(device, other)) continue;
        if (const auto owner = TRY(holder_in(folder, other.uuid))) return held_by(other, *owner);
    }
    // The card may be missing in the list when only its instances can be used.
    if (!device.card.empty()) {
        const Device card{.uuid = device.card};
        if (const auto owner = TRY(holder_in(folder, device.card))) return held_by(card, *owner);
    }
    return std::optional<std::string>();
}

// Somebody spoilt the lock file: that is one GPU less, not the end of the run.
std::string unusable(const Device& device, const Error& error)
{
    return fmt::format("{} cannot be leased: {}. {}", shown(device), error.message(), error.hint());
}

}  // namespace

Result<LeaseFolder> LeaseFolder::open(const std::vector<std::string>& environment)
{
    Path path = os::variable(environment, "PONK_GPU_LOCKS");
    if (path.empty()) path = lock_folder_of_machine("/");
    if (!path.is_absolute())
        return fail(ErrorKind::invalid_argument,
                    "PONK_GPU_LOCKS is {}, but must be an absolute path",
                    os::in_quotes(path));
    TRY(make_lock_folder(path));
    return LeaseFolder(std::move(path));
}

Result<std::optional<Lease>> LeaseFolder::take_one(int folder,
                                                   const Path& path,
                                                   const Device& device,
                                                   const Owner& owner,
                                                   const std::vector<Device>& all)
{
    const auto name = TRY(lock_name(device.uuid));
    for (int attempt = 0; attempt < 100; ++attempt) {
        Lease lease;
        lease.fd_ = TRY(open_lock_file(folder, name));
        if (!TRY(try_lock(lease.fd_.get(), LockKind::exclusive))) return std::optional<Lease>();
        // Locked, but perhaps a file that others do not see any more.
        if (!is_named(folder, name, lease.fd_.get())) continue;
        // Own lock first, then the look at the others: of two who take a card and its instance at
        // the same moment at least one sees the other.
        for (const auto& other : all) {
            if (other.uuid == device.uuid || !exclude_each_other(device, other)) continue;
            if (TRY(holder_in(folder, other.uuid))) return std::optional<Lease>();
        }
        if (!device.card.empty() && TRY(holder_in(folder, device.card)))
            return std::optional<Lease>();
        // The note before the shares: who can have one reads the right name.
        write_lease_note(lease.fd_.get(), {.owner = owner, .selection = std::nullopt});
        if (!TRY(try_lock(lease.fd_.get(), LockKind::shared))) return std::optional<Lease>();
        lease.uuid_ = device.uuid;
        lease.file_ = path / name;
        return std::optional<Lease>(std::move(lease));
    }
    return fail(
        ErrorKind::conflict, "the lock file {} is replaced repeatedly", os::in_quotes(path / name));
}

Result<LeaseFolder::Outcome> LeaseFolder::try_take(const Ticket& ticket,
                                                   const Owner& owner,
                                                   const std::vector<Device>& all,
                                                   const Strangers& strangers) const
{
    const auto now = std::chrono::steady_clock::now();
    if (ticket.blocker_ && now < ticket.look_again_ && TRY(is_locked(ticket.blocker_.get())))
        return Outcome{.leases = {}, .devices = {}, .waiting = ticket.seen_};

    Outcome outcome;
    const auto wanted = TRY(candidates(ticket.selection_, all));
    const auto needed = needed_of(ticket.selection_, wanted);
    const auto folder = TRY(open_lock_folder(path_));
    auto before = TRY(look_before(folder.get(), ticket, wanted, all));
    Waiting waiting{.position = before.count + 1, .ahead = std::move(before.ahead), .reasons = {}};

    std::vector<const Device*> free;
    for (const auto& device : wanted) {
        auto obstacle = find_obstacle(folder.get(), device, all);
        if (!obstacle) {
            waiting.reasons.push_back(unusable(device, obstacle.error()));
            continue;
        }
        if (*obstacle) {
            waiting.reasons.push_back(std::move(**obstacle));
            continue;
        }
        if (before.spoken_for.contains(device.uuid) || before.blocker) continue;
        auto others = strangers ? strangers(device) : std::vector<std::string>();
        if (others.empty()) {
            free.push_back(&device);
            if (free.size() == needed) break;
        }
        std::move(others.begin(), others.end(), std::back_inserter(waiting.reasons));
    }
    if (free.size() >= needed) {
        for (const auto* device : free) {
            auto lease = take_one(folder.get(), path_, *device, owner, all);
            if (!lease) waiting.reasons.push_back(unusable(*device, lease.error()));
            if (!lease || !*lease) break;  // somebody was faster: all or nothing
            outcome.leases.push_back(std::move(**lease));
            outcome.devices.push_back(*device);
        }
        if (outcome.leases.size() == needed) return outcome;
        outcome = {};
    }
    ticket.blocker_ = std::move(before.blocker);
    // Far behind a place changes slowly, and a look costs more.
    ticket.look_again_ =
        now + std::clamp<std::chrono::milliseconds>(before.count * 100ms, 1s, 1min);
    ticket.seen_ = waiting;
    outcome.waiting = std::move(waiting);
    return outcome;
}

Result<bool> LeaseFolder::renew(Lease& lease, const Owner& owner) const
{
    const auto folder = TRY(open_lock_folder(path_));
    const auto name = TRY(lock_name(lease.uuid_));
    if (is_named(folder.get(), name, lease.fd_.get())) return true;
    auto file = TRY(open_lock_file(folder.get(), name));
    if (!TRY(try_lock(file.get(), LockKind::exclusive))) return false;
    write_lease_note(file.get(), {.owner = owner, .selection = std::nullopt});
    TRY(try_lock(file.get(), LockKind::shared));
    lease.former_.push_back(std::exchange(lease.fd_, std::move(file)));
    return true;
}

Result<std::optional<Owner>> LeaseFolder::holder(const std::string& uuid) const
{
    const auto folder = TRY(open_lock_folder(path_));
    return holder_in(folder.get(), uuid);
}

}  // namespace ponk::gpu
