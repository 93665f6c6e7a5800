// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "gpu/device.hpp"
#include "model/gpu_selection.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

// Who uses which GPU of this machine, between all its users and without a daemon: kernel locks on
// files that everybody may open. docs/design/gpu.md, "Leases".
namespace ponk::gpu {

using os::Path;

// What a run asks for.
using Selection = model::GpuSelection;
using model::parse_gpu_selection;
using model::to_text;

// Whom a lease or a place in the queue belongs to, as shown to others.
struct Owner {
    std::string user;
    std::string run;
    pid_t pid = 0;
    std::int64_t since = 0;  // wall-clock milliseconds
    // False for one who is shown to others when the process that noted this is no longer there:
    // whoever holds the lock is of that run, or has not noted itself.
    bool is_present = true;
};

// A GPU that is this process's and of all who share it. It is free again when the last process that
// holds a share of it is gone.
class Lease {
public:
    [[nodiscard]] const std::string& uuid() const noexcept { return uuid_; }
    // A process of the run takes a share by a read lock on this file.
    [[nodiscard]] const Path& file() const noexcept { return file_; }
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    friend class LeaseFolder;
    std::string uuid_;
    Path file_;
    os::Fd fd_;
    std::vector<os::Fd> former_;  // of files that had the name before, held on
};

// What keeps a waiting run from its GPUs.
struct Waiting {
    unsigned position = 1;             // 1: the next one for what it asks
    std::vector<Owner> ahead;          // those before us, first one first; a few of them
    std::vector<std::string> reasons;  // a sentence per GPU that is taken
};
// How long to wait before asking again: short for the next one, long far behind.
std::chrono::milliseconds pause_of(const Waiting& waiting);

// A place in the queue, first come first served; given up when destroyed or when the process dies.
class Ticket {
public:
    ~Ticket() { give_up(); }
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&& other) noexcept;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

private:
    friend class LeaseFolder;
    Ticket() = default;
    void give_up() noexcept;

    std::uint64_t number_ = 0;
    Path file_;
    os::Fd fd_;
    Selection selection_;
    // While this one waits before us, we wait too, and one system call shows it: a thousand
    // who wait do not read each other's tickets again and again.
    mutable os::Fd blocker_;
    mutable Waiting seen_;
    mutable Deadline look_again_{};
};

// The folder with the locks. Any number of processes and users at a time; an object belongs to one
// thread.
class LeaseFolder {
public:
    // The machine's own folder, or PONK_GPU_LOCKS of `environment`.
    static Result<LeaseFolder> open(const std::vector<std::string>& environment);

    [[nodiscard]] const Path& path() const noexcept { return path_; }

    // `not_found` for a name that is not a GPU here, `invalid` when more are asked for than there
    // are.
    static Result<std::vector<Device>> candidates(const Selection& selection,
                                                  const std::vector<Device>& all);

    Result<Ticket> queue(const Selection& selection, const Owner& owner) const;

    // All that the ticket asks for, or why it must wait on. A GPU with processes of others is
    // taken, leased or not: `strangers` tells who they are, as sentences. Who has got its GPUs
    // gives the ticket up, since those behind wait for it.
    using Strangers = std::function<std::vector<std::string>(const Device& device)>;
    struct Outcome {
        std::vector<Lease> leases;
        std::vector<Device> devices;
        std::optional<Waiting> waiting;
    };
    Result<Outcome> try_take(const Ticket& ticket,
                             const Owner& owner,
                             const std::vector<Device>& all,
                             const Strangers& strangers) const;

    // Somebody may have removed the lock file, which its maker can: then the file that has its name
    // now is locked too. False when another one has that already.
    Result<bool> renew(Lease& lease, const Owner& owner) const;

    // True when the ticket gets nothing as long as `run` keeps what it has: the other GPUs are too
    // few, or spoken for by earlier tickets of which the same is true.
    Result<bool> needs_end_of(const std::string& run,
                              const Ticket& ticket,
                              const std::vector<Device>& all) const;

    // nullopt when it is free.
    Result<std::optional<Owner>> holder(const std::string& uuid) const;
    // Those who wait, first one first.
    Result<std::vector<std::pair<Owner, Selection>>> waiting() const;

private:
    struct Before;

    explicit LeaseFolder(Path path) : path_(std::move(path)) {}
    static Result<Before> look_before(int folder,
                                      const Ticket& ticket,
                                      const std::vector<Device>& wanted,
                                      const std::vector<Device>& all);
    static Result<std::optional<Lease>> take_one(int folder,
                                                 const Path& path,
                                                 const Device& device,
                                                 const Owner& owner,
                                                 const std::vector<Device>& all);

    Path path_;
};

}  // namespace ponk::gpu
