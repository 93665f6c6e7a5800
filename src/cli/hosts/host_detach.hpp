// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "cli/client/context.hpp"
#include "os/file_lock.hpp"
#include "ssh/client.hpp"

#include <optional>
#include <string>

namespace ponk::cli {

struct DetachRequest {
    enum class Key { remove, keep } key = Key::remove;
    enum class Files { stay, remove } files = Files::stay;
};

// What a host and this machine still know of each other, and how it ends when one of its targets is
// detached. Holds the host's lock.
class HostDetach {
public:
    static Result<HostDetach> make(Context& context,
                                   const ssh::Access& access,
                                   std::string scratch,
                                   os::Path compute_file,
                                   DetachRequest request);

    // `conflict` when runs go on there that nobody could follow or collect afterwards.
    Result<> require_no_runs() const;
    // Never a failure: the host may be gone for good. What stays is reported.
    JsonObject say();

private:
    HostDetach(Context& context,
               const ssh::Access& access,
               std::string scratch,
               os::Path compute_file,
               DetachRequest request,
               os::FileLock lock);
    // Of the host, without this target and those whose file is gone, but with those of the project
    // that were written by hand.
    [[nodiscard]] std::optional<ssh::Settings> settings_left() const;
    Result<std::vector<std::string>> runs_there() const;
    void remove_key(const std::string& line);
    void remove_files();

    Context* context_;
    ssh::Access access_;
    std::string scratch_;
    os::Path compute_file_;
    DetachRequest request_;
    os::FileLock lock_;
    JsonObject result_;
};

}  // namespace ponk::cli
