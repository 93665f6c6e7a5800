// SPDX-License-Identifier: Apache-2.0
// Drives the snapshot module for measurements: bench/snapshot.py compares it with git.
#include "base/time.hpp"
#include "snapshot/garbage.hpp"
#include "snapshot/materialise.hpp"
#include "snapshot/take_snapshot.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace ponk;
using namespace ponk::snapshot;

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Result<> take(const ObjectStore& store, const std::string& directory, const std::string& cache)
{
    SnapshotOptions options;
    options.directory = directory;
    options.cache_file = cache;
    options.ignore.fingerprint = "git folder";
    options.ignore.ignored = [](std::string_view path, bool is_folder) {
        return is_folder && path == ".git";
    };
    const auto start = Clock::now();
    const auto report = TRY(take_snapshot(store, options));
    fmt::print("{} {:.3f} ms files={} read={} bytes={} added={} dirty={}\n",
               report.id.text(),
               milliseconds_since(start),
               report.files,
               report.files_read,
               report.bytes_read,
               report.objects_added,
               report.git && report.git->dirty ? (*report.git->dirty ? "yes" : "no") : "unknown");
    return {};
}

Result<> make(const ObjectStore& store, const std::string& id, const std::string& destination)
{
    Digest digest;
    if (!parse_digest(id, digest)) return fail(ErrorKind::invalid_argument, "'{}' is no id", id);
    const auto start = Clock::now();
    const auto report = TRY(materialise(store, digest, destination));
    fmt::print(
        "{:.3f} ms files={} bytes={}\n", milliseconds_since(start), report.files, report.bytes);
    return {};
}

Result<> run(const std::vector<std::string>& words)
{
    if (words.size() == 4 && words[0] == "take") {
        const auto store = TRY(ObjectStore::open(words[1]));
        return take(store, words[2], words[3]);
    }
    if (words.size() == 4 && words[0] == "materialise") {
        const auto store = TRY(ObjectStore::open(words[1]));
        return make(store, words[2], words[3]);
    }
    return fail(ErrorKind::invalid_argument,
                "use: take STORE FOLDER CACHE, or: materialise STORE ID FOLDER");
}

}  // namespace

int main(int argc, char** argv)
{
    const auto done = run(std::vector<std::string>(argv + 1, argv + argc));
    if (done) return 0;
    fmt::print(stderr, "snapshot_tool: {}\n{}\n", done.error().message(), done.error().hint());
    return 1;
}
