// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "gpu/device.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

// Who uses which GPU of this machine, between all its users and without a daemon: kernel locks on
// files that everybody may open. docs/design/gpu.md, "Leases".
namespace ponk::gpu {

using os::Path;

// What a run asks for.
struct Wish {
    enum class Kind { none, count, all, named } kind = Kind::none;
    unsigned count = 0;
    std::vector<std::string> uuids;  // or their unique beginnings, or indexes; of `named`
};
// "none", "all", "2", "GPU-…,GPU-…". Fails with what is allowed.
Result<Wish> parse_wish(std::string_view text);
std::string to_text(const Wish& wish);

// Whom a lease or a place in the queue belongs to, as shown to others.
struct Owner {
    std::string user;
    std::string run;
    pid_t pid = 0;
    std::int64_t since = 0;  // wall-clock milliseconds
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
};

// A place in the queue, first come first served; given up when destroyed or when the process dies.
class Ticket {
public:
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

private:
    friend class LeaseFolder;
    std::uint64_t number_ = 0;
    Path file_;
    os::Fd fd_;
    Wish wish_;
};

// What keeps a waiting run from its GPUs.
struct Waiting {
    unsigned position = 1;             // 1: the next one
    std::vector<Owner> ahead;          // those before us, first one first
    std::vector<std::string> reasons;  // a sentence per GPU that is taken
};

// The folder with the locks. Any number of processes and users at a time; an object belongs to one
// thread.
class LeaseFolder {
public:
    // The machine's own folder, or PONK_GPU_LOCKS of `environment`.
    static Result<LeaseFolder> open(const std::vector<std::string>& environment);

    [[nodiscard]] const Path& path() const noexcept { return path_; }

    // `not_found` for a name that is no GPU here, `invalid` when more are asked for than there are.
    static Result<std::vector<Device>> candidates(const Wish& wish, const std::vector<Device>& all);

    Result<Ticket> queue(const Wish& wish, const Owner& owner) const;

    // All that the ticket asks for, or why it must wait on. A GPU with processes of others is
    // taken, leased or not: `strangers` tells who they are, as sentences.
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

    // Another share of a lease that this process's run has: for a holder that was started anew.
    Result<Lease> share(const std::string& uuid) const;

    // nullopt when it is free.
    Result<std::optional<Owner>> holder(const std::string& uuid) const;
    // Those who wait, first one first.
    Result<std::vector<std::pair<Owner, Wish>>> waiting() const;

private:
    explicit LeaseFolder(Path path) : path_(std::move(path)) {}
    Path path_;
};

}  // namespace ponk::gpu
