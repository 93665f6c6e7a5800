// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/id.hpp"
#include "base/synced.hpp"
#include "model/exit_record.hpp"
#include "model/run.hpp"
#include "os/file.hpp"
#include "os/tree.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

// Whether the log of an ended run still is what its exit record says it was.
namespace ponk::engine {

// Digests of logs that were read from their first to their last byte, as long as the kernel says
// that the file is the same: a log of many gigabytes is hashed once, not at each look. Any thread
// may call.
class LogDigests {
public:
    [[nodiscard]] std::optional<Digest> find(const RunId& id, const os::FileStatus& status);
    void remember(const RunId& id, const os::FileStatus& status, const Digest& digest);

private:
    struct Known {
        os::FileStatus status;
        Digest digest;
    };
    Synced<std::map<std::string, Known>> known_;
};

// What the exit record says of the log.
struct LogPromise {
    std::uint64_t length = 0;
    std::string sha256;  // empty when it was not computed
};
LogPromise log_promise(const model::ExitRecord& exit);
// Of an ended run; nullopt when its end is not known.
std::optional<LogPromise> log_promise(const model::Run& run);

enum class LogDepth {
    known,    // the length, and the digest where it is known already
    cheap,    // the digest too, unless the log is large
    thorough  // the digest, whatever its size
};

// The file `log` of a run directory.
struct LogFile {
    RunId id;
    os::Path path;
};

// What is wrong with the log, as a `damaged` error; nullopt when it is as promised.
Result<std::optional<Error>> find_log_damage(const LogFile& log,
                                             const LogPromise& promise,
                                             LogDepth depth,
                                             LogDigests& digests,
                                             std::stop_token stop = {});
// The same for a run as history has it. A run that goes on, or that never began, has no damage; of
// one that is lost it is only known whether there is a log.
Result<std::optional<Error>> find_log_damage(const LogFile& log,
                                             const model::Run& run,
                                             LogDepth depth,
                                             LogDigests& digests,
                                             std::stop_token stop = {});

}  // namespace ponk::engine
