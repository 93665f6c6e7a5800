// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "os/fd.hpp"
#include "os/tree.hpp"
#include "snapshot/manifest.hpp"
#include "snapshot/object_writer.hpp"
#include "snapshot/take_snapshot.hpp"
#include "snapshot/work_pool.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::snapshot {

// One name of a folder as found.
struct ScannedFile {
    std::string_view name;  // NUL-terminated
    EntryKind kind = EntryKind::file;
    bool skipped = false;     // gone again, or nothing that a snapshot can hold
    std::uint32_t child = 0;  // of a folder: its index in the scan
    std::uint32_t cached = 0xffffffff;
    os::FileStatus status;
    Digest digest;
    std::vector<Chunk> chunks;
    std::string target;  // of a link
};

// Counts for the progress display, shared by all workers.
struct Counters {
    std::atomic<std::uint64_t> files{0};
    std::atomic<std::uint64_t> bytes{0};
    std::mutex mutex;
    std::chrono::steady_clock::time_point shown{};

    void show(const SnapshotOptions& options);
};

// Hashes files and hands their contents to the writer. One per worker thread.
class FileStorer {
public:
    enum class Source { living, finished };  // finished: nobody writes there any more

    FileStorer(const ObjectStore& store,
               ObjectWriter& writer,
               const SnapshotOptions& options,
               Source source,
               Counters& counters);

    // Stores `file` of the open folder. `path` is for messages. A file that is too large for one
    // task is left to `store_large`; then the answer is `later`.
    // A finished file that is a huge hole is left out.
    enum class Outcome { stored, gone, later, too_sparse };
    Result<Outcome> store(int folder, const std::string& path, ScannedFile& file);
    // Stores a large file by tasks of its own; `file` outlives the pool's run.
    Result<> store_large(WorkPool& pool,
                         std::vector<std::unique_ptr<FileStorer>>& storers,
                         int folder,
                         const std::string& path,
                         ScannedFile& file);
    [[nodiscard]] ObjectWriter::Stage& stage() noexcept { return stage_; }

private:
    struct LargeFile;
    Result<std::optional<Outcome>>
    judge_sparse(int fd, const os::FileStatus& status, const std::string& path) const;
    Result<bool> try_store(int fd, const os::FileStatus& before, ScannedFile& file);
    Result<bool> try_link(int fd, const std::string& path, ScannedFile& file);
    Result<> store_chunk(LargeFile& large, std::size_t index);
    static Result<> finish_large(WorkPool& pool,
                                 std::vector<std::unique_ptr<FileStorer>>& storers,
                                 const std::shared_ptr<LargeFile>& large);
    static void add_chunks(WorkPool& pool,
                           std::vector<std::unique_ptr<FileStorer>>& storers,
                           const std::shared_ptr<LargeFile>& large);
    Result<bool> share_chunk(LargeFile& large, std::uint64_t offset, Chunk& chunk);
    Result<> pause_before_retry(unsigned attempt, const std::string& path) const;
    [[nodiscard]] Digest digest_of(std::string_view bytes);
    Result<bool> is_wanted(const Digest& digest);
    [[nodiscard]] char* buffer(std::size_t size);

    const ObjectStore& store_;
    ObjectWriter& writer_;
    const SnapshotOptions& options_;
    Source source_;
    Counters& counters_;
    ObjectWriter::Stage stage_;
    Sha256 hash_;
    std::vector<char> buffer_;
    std::uint64_t store_device_ = 0;
    bool sharing_ = true;  // until the file system says it cannot
};

}  // namespace ponk::snapshot
