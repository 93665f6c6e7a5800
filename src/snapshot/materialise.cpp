// SPDX-License-Identifier: Apache-2.0
#include "snapshot/materialise.hpp"

#include "base/keyed_hash.hpp"
#include "base/synced.hpp"
#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"
#include "snapshot/link_way.hpp"
#include "snapshot/object_format.hpp"
#include "snapshot/pieces.hpp"
#include "snapshot/work_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

// Below this a reflink costs more than the copy.
constexpr std::uint64_t smallest_shared = std::uint64_t{64} << 10;
constexpr std::size_t part_size = 128;
constexpr int create_flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

std::string_view folder_of(std::string_view path)
{
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

const char* name_of(const std::string& path)
{
    const auto slash = path.rfind('/');
    return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

Result<> write_at(int fd, std::string_view bytes, std::uint64_t offset)
{
    while (!bytes.empty()) {
        const auto put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_errno(errno, "write");
        bytes.remove_prefix(static_cast<std::size_t>(put));
        offset += static_cast<std::uint64_t>(put);
    }
    return {};
}

// One tree in the making. Folders first, then files on all workers, links last: while files are
// written the destination holds no link, and every folder is opened without following any.
class Materialiser {
public:
    Materialiser(const ObjectStore& store,
                 const Manifest& manifest,
                 const MaterialiseOptions& options)
        : store_(store), manifest_(manifest), options_(options),
          pool_(options.threads, options.stop), buffers_(pool_.size())
    {
    }

    Result<MaterialiseReport> run(int destination)
    {
        root_ = destination;
        TRY(make_folders());
        share_out_files();
        TRY(pool_.run());
        TRY(make_links());
        auto report = MaterialiseReport{
            manifest_.file_count(), manifest_.byte_count(), {}, std::move(outside_)};
        const auto healed = healed_.lock();
        report.healed.assign(healed->begin(), healed->end());
        return report;
    }

private:
    using Files = std::vector<const ManifestEntry*>;

    // A file of several chunks, shared by their tasks.
    struct LargeFile {
        os::Fd fd;
        const ManifestEntry* entry;
    };

    // With the umask that the options name.
    [[nodiscard]] mode_t mode(mode_t asked) const { return asked & ~*options_.umask; }

    Result<os::Fd> open_folder(std::string_view path) const
    {
        const int fd = os::open_folder_beneath(root_, std::string(path));
        if (fd < 0) return fail_errno(-fd, "open folder '{}'", printable(path));
        return os::Fd(fd);
    }

    Result<> make_folders()
    {
        // Entries below one folder follow it, so the folder open last is mostly the right one.
        os::Fd parent;
        std::string_view open = "\xff/none";
        for (const auto& entry : manifest_.entries()) {
            if (entry.kind != EntryKind::folder) continue;
            if (const auto above = folder_of(entry.path); above != open) {
                parent = TRY(open_folder(above));
                open = above;
            }
            if (::mkdirat(parent.get(), name_of(entry.path), 0777) != 0 ||
                (options_.umask &&
                 ::fchmodat(parent.get(), name_of(entry.path), mode(0777), 0) != 0))
                return fail_errno(errno, "make folder '{}'", printable(entry.path));
        }
        return {};
    }

    void share_out_files()
    {
        KeyedMap<Files, std::string_view> by_folder;
        for (const auto& entry : manifest_.entries()) {
            if (entry.is_file()) by_folder[folder_of(entry.path)].push_back(&entry);
        }
        for (auto& [path, files] : by_folder) {
            for (std::size_t begin = 0; begin < files.size(); begin += part_size) {
                const auto end = std::min(begin + part_size, files.size());
                auto part =
                    std::make_shared<Files>(files.begin() + static_cast<std::ptrdiff_t>(begin),
                                            files.begin() + static_cast<std::ptrdiff_t>(end));
                pool_.add([this, part, folder = path](std::size_t worker) {
                    return make_files(worker, folder, *part);
                });
            }
        }
    }

    Result<> make_files(std::size_t worker, std::string_view folder, const Files& files)
    {
        const auto parent = TRY(open_folder(folder));
        for (const auto* entry : files) {
            if (options_.stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
            TRY(make_file(worker, parent.get(), *entry)
                    .map_error(while_doing("write '{}'", printable(entry->path))));
        }
        return {};
    }

    Result<> make_file(std::size_t worker, int parent, const ManifestEntry& entry)
    {
        const mode_t asked = entry.kind == EntryKind::executable ? 0777 : 0666;
        os::Fd fd(::openat(parent, name_of(entry.path), create_flags, asked));
        if (!fd || (options_.umask && ::fchmod(fd.get(), mode(asked)) != 0))
            return fail_errno(errno, "create it");
        if (!entry.chunks.empty()) return make_chunks(std::move(fd), entry);
        if (entry.size == 0) return {};
        if (entry.size > chunked_above) return copy_whole(fd.get(), entry);
        if (entry.size >= smallest_shared && TRY(share(fd.get(), entry.digest, 0, entry.size)))
            return {};
        char* const content = buffer(worker, entry.size);
        TRY(read_or_heal(entry.path, 0, entry.digest, content, entry.size));
        return os::write_all(fd.get(), {content, entry.size});
    }

    Result<> make_chunks(os::Fd fd, const ManifestEntry& entry)
    {
        if (::ftruncate(fd.get(), static_cast<off_t>(entry.size)) != 0)
            return fail_errno(errno, "give it its size");
        auto large = std::make_shared<LargeFile>(LargeFile{std::move(fd), &entry});
        std::uint64_t offset = entry.size;
        for (auto index = entry.chunks.size(); index-- > 0;) {
            offset -= entry.chunks[index].size;
            pool_.add([this, large, index, offset](std::size_t worker) {
                return make_chunk(worker, *large, large->entry->chunks[index], offset)
                    .map_error(while_doing("write '{}'", printable(large->entry->path)));
            });
        }
        return {};
    }

    Result<>
    make_chunk(std::size_t worker, const LargeFile& large, const Chunk& chunk, std::uint64_t offset)
    {
        if (is_hole(chunk.digest, chunk.size)) return {};  // stays one
        if (chunk.size > chunked_above)
            return fail(ErrorKind::damaged, "a chunk has {}", byte_size_text(chunk.size));
        if (TRY(share(large.fd.get(), chunk.digest, offset, chunk.size))) return {};
        char* const content = buffer(worker, chunk.size);
        TRY(read_or_heal(large.entry->path, offset, chunk.digest, content, chunk.size));
        return write_at(large.fd.get(), {content, chunk.size}, offset);
    }

    // Reflinks first and verifies the result: what is checked is what the run will read.
    Result<bool> share(int fd, const Digest& digest, std::uint64_t offset, std::uint64_t size)
    {
        if (!sharing_) return false;
        const auto object = store_.open_object(digest);
        if (!object) return false;  // the reading way says what is wrong
        os::FileStatus status;
        if (os::status_of(object->get(), status) != 0 || status.size != size) return false;
        if (!os::share_range(object->get(), 0, size, fd, offset)) {
            if (errno == EOPNOTSUPP || errno == EXDEV || errno == ENOTTY || errno == ENOSYS)
                sharing_ = false;
            return false;
        }
        const auto content = TRY(os::read_at(fd, offset, size));
        return !is_compressed(content) && sha256(content) == digest;
    }

    // An output that is one large object.
    Result<> copy_whole(int fd, const ManifestEntry& entry)
    {
        if (TRY(share(fd, entry.digest, 0, entry.size))) return {};
        if (::ftruncate(fd, 0) != 0) return fail_errno(errno, "empty it");
        return store_.stream(entry.digest,
                             [fd](std::string_view bytes) { return os::write_all(fd, bytes); });
    }

    Result<> read_or_heal(const std::string& path,
                          std::uint64_t offset,
                          const Digest& digest,
                          char* content,
                          std::size_t size)
    {
        auto read = store_.read_into(digest, content, size);
        if (read || options_.heal_from.empty()) return read;
        const auto kind = read.error().kind();
        if (kind != ErrorKind::damaged && kind != ErrorKind::not_found) return read;
        const auto source = os::open_file(options_.heal_from, O_RDONLY | O_DIRECTORY);
        if (!source) return read;
        const auto file = os::open_beneath(source->get(), path, O_RDONLY | O_NONBLOCK);
        if (!file) return read;
        const auto bytes = os::read_at(file->get(), offset, size);
        if (!bytes || bytes->size() != size || sha256(*bytes) != digest) return read;
        TRY(store_.put(*bytes));
        std::copy(bytes->begin(), bytes->end(), content);
        healed_.lock()->insert("the stored contents of '" + printable(path) +
                               "' were damaged or missing and have been stored again from " +
                               os::in_quotes(options_.heal_from));
        return {};
    }

    Result<> make_links()
    {
        for (const auto& entry : manifest_.entries()) {
            if (entry.kind != EntryKind::link) continue;
            const auto parent = TRY(open_folder(folder_of(entry.path)));
            if (::symlinkat(entry.target.c_str(), parent.get(), name_of(entry.path)) != 0)
                return fail_errno(errno, "make link '{}'", printable(entry.path));
            if (follow_links(entry.path, manifest_).end == LinkWay::End::outside)
                outside_.push_back(entry.path);
        }
        return {};
    }

    char* buffer(std::size_t worker, std::size_t size)
    {
        auto& buffer = buffers_[worker];
        if (buffer.size() < size) buffer.resize(std::max(size, std::size_t{128} << 10));
        return buffer.data();
    }

    const ObjectStore& store_;
    const Manifest& manifest_;
    const MaterialiseOptions& options_;
    int root_ = -1;
    WorkPool pool_;
    std::vector<std::vector<char>> buffers_;  // one per worker
    std::atomic<bool> sharing_{true};         // until the file system says it cannot
    Synced<std::set<std::string>> healed_;    // once per file, however many of its chunks
    std::vector<std::string> outside_;
};

enum class Made { here, before };

Result<Made> prepare(const os::Path& destination)
{
    if (::mkdir(destination.c_str(), 0777) == 0) return Made::here;
    if (errno != EEXIST) return fail_errno(errno, "make folder {}", os::in_quotes(destination));
    struct stat info {};
    if (::lstat(destination.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    os::in_quotes(destination) + " is " +
                                        (S_ISLNK(info.st_mode) ? "a link" : "not a folder"),
                                    "Name a folder that does not exist yet, or an empty one."));
    }
    const auto names = TRY(os::list_directory(destination));
    if (names.empty()) return Made::before;
    return tl::unexpected(Error(ErrorKind::conflict,
                                os::in_quotes(destination) + " is not empty",
                                "Name a folder that does not exist yet, or an empty one."));
}

Result<> clear(const os::Path& destination, Made made)
{
    if (made == Made::here) return os::remove_tree(destination);
    for (const auto& entry : TRY(os::list_directory(destination)))
        TRY(os::remove_tree(destination / entry.name));
    return {};
}

}  // namespace

Result<MaterialiseReport> materialise(const ObjectStore& store,
                                      const Digest& id,
                                      const os::Path& destination,
                                      const MaterialiseOptions& options)
{
    const auto manifest = TRY(store.read_manifest(id));
    const auto made = TRY(prepare(destination));
    const auto root = TRY(os::open_file(destination, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (made == Made::here && options.umask) ::fchmod(root.get(), 0777 & ~*options.umask);
    auto report = Materialiser(store, manifest, options).run(root.get());
    if (!report) {
        static_cast<void>(clear(destination, made));
        return tl::unexpected(report.error().within("recreate snapshot '" + id.text() + "' in " +
                                                    os::in_quotes(destination)));
    }
    return report;
}

}  // namespace ponk::snapshot
