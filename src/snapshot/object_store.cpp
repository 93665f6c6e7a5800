// SPDX-License-Identifier: Apache-2.0
#include "snapshot/object_store.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "base/work_count.hpp"
#include "os/directory.hpp"
#include "snapshot/object_format.hpp"
#include "snapshot/object_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

constexpr std::string_view store_header = "ponk store 1 ";
constexpr std::size_t piece_size = std::size_t{1} << 20;
constexpr std::size_t most_kept_entries = 200'000;  // of manifests; an entry has about 200 bytes
constexpr std::string_view store_again =
    "Submit again from the project folder to store it again, and check the disk.";

Digest digest_of(std::string_view bytes)
{
    thread_local Sha256 hash;  // making one costs more than hashing a small file
    hash.update(bytes);
    return hash.finish();
}

Result<std::size_t> read_some(int fd, char* buffer, std::size_t size)
{
    std::size_t filled = 0;
    while (filled < size) {
        const auto got = ::read(fd, buffer + filled, size - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read an object");
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    return filled;
}

}  // namespace

std::string object_name(const Digest& digest)
{
    auto name = digest.text();
    name.insert(2, 1, '/');
    return name;
}

Result<ObjectStore> ObjectStore::open(const os::Path& root, StoreOptions options)
{
    for (const char* part : {"objects", "leases", "trash", "quarantine"})
        TRY(os::make_directories(root / part));
    auto objects = TRY(os::open_file(root / "objects", O_RDONLY | O_DIRECTORY));
    ObjectStore store(root, std::move(objects), options);
    TRY(store.load_identity());
    return store;
}

Result<> ObjectStore::load_identity()
{
    const auto path = root_ / "store";
    auto text = TRY(os::read_file_if_any(path, 4096));
    if (!text) {
        text = std::string(store_header) + to_hex(random_bytes(identity_.size())) + "\n";
        const auto made = os::publish_file(path, *text);
        if (!made && made.error().kind() != ErrorKind::conflict) return made;
        if (!made) text = TRY(os::read_file(path, 4096));
    }
    const auto raw = text->starts_with(store_header)
                         ? from_hex(trim(text->substr(store_header.size())))
                         : std::nullopt;
    if (!raw || raw->size() != identity_.size()) {
        return tl::unexpected(
            Error(ErrorKind::damaged,
                  fmt::format("{} is not the mark of an object store of this version",
                              os::in_quotes(path)),
                  "Use the version of ponk that made it, or set PONK_HOME to another folder."));
    }
    std::memcpy(identity_.data(), raw->data(), identity_.size());
    return {};
}

Result<bool> ObjectStore::restore_from_trash(const Digest& digest) const
{
    const auto name = object_name(digest);
    for (const auto& pass : TRY(os::list_directory(root_ / "trash"))) {
        const auto from = root_ / "trash" / pass.name / digest.text();
        ::mkdirat(objects_.get(), name.substr(0, 2).c_str(), 0700);
        if (::renameat2(AT_FDCWD, from.c_str(), objects_.get(), name.c_str(), RENAME_NOREPLACE) ==
                0 ||
            errno == EEXIST) {
            return true;
        }
        if (errno != ENOENT)
            return fail_errno(errno, "bring object '{}' back from the trash", digest.text());
    }
    return false;
}

Result<bool> ObjectStore::contains(const Digest& digest) const
{
    os::FileStatus status;
    const int failed = os::status_at(objects_.get(), object_name(digest).c_str(), status);
    if (failed == 0 && status.is_file()) return true;
    if (failed == 0) {
        // It must give way, else the object could never be stored here again.
        TRY(set_aside(digest));
        return false;
    }
    if (failed != ENOENT) return fail_errno(failed, "look for object '{}'", digest.text());
    return restore_from_trash(digest);
}

// A pipe, a folder, a link: whoever put it there, it is no object.
Result<> ObjectStore::set_aside(const Digest& digest) const
{
    const os::Fd file(
        ::openat(objects_.get(), object_name(digest).c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    return quarantine(digest, file.get());
}

Result<os::Fd> ObjectStore::open_object(const Digest& digest) const
{
    const auto name = object_name(digest);
    for (int attempt = 0; attempt < 2; ++attempt) {
        // Nonblocking: nobody may ever write into a pipe that lies there.
        os::Fd file(
            ::openat(objects_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        const int problem = errno;
        os::FileStatus status;
        if (file && os::status_of(file.get(), status) == 0 && status.is_file()) return file;
        if (!file)
            file.reset(::openat(objects_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        if (file && os::status_of(file.get(), status) == 0 && !status.is_file())
            return damaged(digest, file.get(), "it is not a regular file");
        if (problem != ENOENT) return fail_errno(problem, "open object '{}'", digest.text());
        if (attempt > 0 || !TRY(restore_from_trash(digest))) break;
    }
    // Whoever asks has a manifest that names it: no stat cache may go on believing it is here.
    TRY(advance_generation());
    if (TRY(is_in_quarantine(digest))) {
        return tl::unexpected(
            Error(ErrorKind::damaged,
                  fmt::format("object '{}' of {} was found damaged and is in its folder "
                              "'quarantine'",
                              digest.text(),
                              os::in_quotes(root_)),
                  std::string(store_again)));
    }
    return tl::unexpected(Error(
        ErrorKind::not_found,
        fmt::format("object '{}' is not in the store {}", digest.text(), os::in_quotes(root_)),
        "Submit again from the project folder: that stores what is missing."));
}

Result<bool> ObjectStore::is_in_quarantine(const Digest& digest) const
{
    const auto prefix = digest.text() + "-";
    const auto entries = TRY(os::list_directory(root_ / "quarantine"));
    return std::any_of(entries.begin(), entries.end(), [&](const os::Entry& entry) {
        return entry.name.starts_with(prefix);
    });
}

tl::unexpected<Error>
ObjectStore::damaged(const Digest& digest, int file, std::string_view what) const
{
    const auto moved = quarantine(digest, file);
    return tl::unexpected(Error(
        ErrorKind::damaged,
        fmt::format("object '{}' in {} is damaged: {}", digest.text(), os::in_quotes(root_), what),
        moved ? "It was moved to the folder 'quarantine' beside it. " + std::string(store_again)
              : "It could not be moved aside: " + moved.error().message()));
}

Result<> ObjectStore::quarantine(const Digest& digest, int file) const
{
    os::FileStatus seen;
    os::FileStatus there;
    // Another reader may have moved it aside and stored a sound one in its place since.
    if (os::status_of(file, seen) == 0 &&
        os::status_at(objects_.get(), object_name(digest).c_str(), there) == 0 &&
        (seen.inode != there.inode || seen.device != there.device))
        return {};
    TRY(advance_generation());
    const auto to = root_ / "quarantine" / (digest.text() + "-" + to_hex(random_bytes(4)));
    if (::renameat(objects_.get(), object_name(digest).c_str(), AT_FDCWD, to.c_str()) != 0 &&
        errno != ENOENT)
        return fail_errno(errno, "move object '{}' to quarantine", digest.text());
    return {};
}

// The whole content, from the file's beginning; not verified.
Result<> ObjectStore::load(const Digest& digest, int file, char* buffer, std::size_t size) const
{
    const auto got = TRY(read_some(file, buffer, size));
    if (!is_compressed({buffer, got})) {
        if (got != size) return damaged(digest, file, "its file is cut short");
        return {};
    }
    struct stat info {};
    if (::fstat(file, &info) != 0) return fail_errno(errno, "look at object '{}'", digest.text());
    thread_local std::string raw;
    raw.resize(static_cast<std::size_t>(info.st_size));
    std::memcpy(raw.data(), buffer, std::min(got, raw.size()));
    if (raw.size() > got) {
        const auto more = TRY(read_some(file, raw.data() + got, raw.size() - got));
        if (more != raw.size() - got) return damaged(digest, file, "its file is cut short");
    }
    count_work(size);
    if (!decode_object(raw, buffer, size)) return damaged(digest, file, "it does not expand");
    return {};
}

Result<> ObjectStore::verify(const Digest& digest, int file, std::string_view content) const
{
    count_work(content.size());
    if (digest_of(content) != digest) return damaged(digest, file, "its bytes have another digest");
    return {};
}

Result<> ObjectStore::read_into(const Digest& digest, char* buffer, std::size_t size) const
{
    const auto file = TRY(open_object(digest));
    TRY(load(digest, file.get(), buffer, size));
    return verify(digest, file.get(), {buffer, size});
}

Result<std::uint64_t> ObjectStore::content_size(const Digest& digest,
                                                int file,
                                                std::string_view head,
                                                std::uint64_t limit) const
{
    struct stat info {};
    if (::fstat(file, &info) != 0) return fail_errno(errno, "look at object '{}'", digest.text());
    auto size = static_cast<std::uint64_t>(info.st_size);
    if (is_compressed(head)) {
        const auto expanded = compressed_content_size(head);
        if (!expanded) return damaged(digest, file, "its head is cut short");
        size = *expanded;
        if (size > std::max(limit, chunked_above))
            return damaged(digest, file, "its head names a size beyond reason");
    }
    if (size > limit) {
        return fail(ErrorKind::invalid_argument,
                    "object '{}' has {}, more than the {} that may be read at once",
                    digest.text(),
                    byte_size_text(size),
                    byte_size_text(limit));
    }
    return size;
}

Result<std::string> ObjectStore::read(const Digest& digest, std::uint64_t limit) const
{
    const auto file = TRY(open_object(digest));
    const auto head = TRY(os::read_at(file.get(), 0, compressed_head_size));
    std::string content(TRY(content_size(digest, file.get(), head, limit)), '\0');
    TRY(load(digest, file.get(), content.data(), content.size()));
    TRY(verify(digest, file.get(), content));
    return content;
}

Result<> ObjectStore::stream(const Digest& digest,
                             const std::function<Result<>(std::string_view)>& sink) const
{
    const auto file = TRY(open_object(digest));
    std::string piece(piece_size, '\0');
    auto got = TRY(read_some(file.get(), piece.data(), piece.size()));
    if (is_compressed({piece.data(), got})) return sink(TRY(read(digest)));
    Sha256 hash;
    while (got > 0) {
        const std::string_view bytes(piece.data(), got);
        count_work(bytes.size());
        hash.update(bytes);
        TRY(sink(bytes));
        got = TRY(read_some(file.get(), piece.data(), piece.size()));
    }
    if (hash.finish() != digest)
        return damaged(digest, file.get(), "its bytes have another digest");
    return {};
}

Result<> ObjectStore::verify_once(const Digest& digest, const os::FileStatus& version) const
{
    if (recent_->is_verified(digest, version)) return {};
    TRY(stream(digest, [](std::string_view) { return Result<>{}; }));
    recent_->note_verified(digest, version);
    return {};
}

// Of a compressed one.
Result<RecentContents::Content> ObjectStore::expanded(const Digest& digest,
                                                      int file,
                                                      std::string_view head,
                                                      const os::FileStatus& version) const
{
    const auto size = TRY(content_size(digest, file, head, std::uint64_t{1} << 30));
    auto content = std::make_shared<std::string>(size, '\0');
    TRY(load(digest, file, content->data(), size));
    if (recent_->is_verified(digest, version)) return content;
    TRY(verify(digest, file, *content));
    recent_->note_verified(digest, version);
    return content;
}

Result<std::string>
ObjectStore::read_range(const Digest& digest, std::uint64_t offset, std::size_t length) const
{
    const auto file = TRY(open_object(digest));
    os::FileStatus version;
    if (const int failed = os::status_of(file.get(), version); failed != 0)
        return fail_errno(failed, "look at object '{}'", digest.text());
    auto content = recent_->find(digest, version);
    if (!content) {
        const auto head = TRY(os::read_at(file.get(), 0, compressed_head_size));
        if (!is_compressed(head)) {
            const bool at_once = offset == 0 && version.size <= length;
            if (at_once && version.size <= chunked_above) return read(digest);
            TRY(verify_once(digest, version));
            return os::read_at(file.get(), offset, length);
        }
        content = TRY(expanded(digest, file.get(), head, version));
    }
    if (offset >= content->size()) return std::string();
    auto part = content->substr(offset, length);
    // Whoever had the last part mostly comes for no other one.
    if (offset + part.size() < content->size()) {
        recent_->keep(digest, version, std::move(content));
    } else {
        recent_->drop(digest);
    }
    return part;
}

Result<Digest> ObjectStore::put(std::string_view content) const
{
    const auto digest = digest_of(content);
    ObjectWriter writer(*this);
    ObjectWriter::Stage stage(writer);
    if (TRY(writer.claim(digest))) TRY(stage.add(digest, content));
    TRY(stage.flush());
    TRY(writer.sync_names());
    return digest;
}

Result<Manifest> ObjectStore::read_manifest(const Digest& id) const
{
    const auto text = TRY(read(id).map_error(while_doing("read snapshot '{}'", id.text())));
    count_work(text.size());
    return Manifest::parse(text).map_error(while_doing("read snapshot '{}'", id.text()));
}

Result<std::shared_ptr<const Manifest>> ObjectStore::shared_manifest(const Digest& id) const
{
    os::FileStatus object;
    {
        const auto file =
            TRY(open_object(id).map_error(while_doing("read snapshot '{}'", id.text())));
        if (const int failed = os::status_of(file.get(), object); failed != 0)
            return fail_errno(failed, "look at snapshot '{}'", id.text());
    }
    {
        const auto kept = kept_->lock();
        const auto known = std::find_if(
            kept->begin(), kept->end(), [&id](const KeptManifest& one) { return one.id == id; });
        if (known != kept->end() && known->object.same_version(object)) {
            std::rotate(known, known + 1, kept->end());
            return kept->back().manifest;
        }
    }
    auto manifest = std::make_shared<const Manifest>(TRY(read_manifest(id)));
    const auto kept = kept_->lock();
    std::erase_if(*kept, [&id](const KeptManifest& one) { return one.id == id; });
    kept->push_back({id, object, manifest});
    std::size_t entries = 0;
    std::size_t fit = 0;  // from the last one on
    for (auto one = kept->rbegin(); one != kept->rend(); ++one, ++fit) {
        entries += one->manifest->entries().size();
        if (fit > 0 && entries > most_kept_entries) break;
    }
    kept->erase(kept->begin(), kept->end() - static_cast<std::ptrdiff_t>(fit));
    return manifest;
}

Result<std::uint64_t> ObjectStore::generation() const
{
    const auto text = TRY(os::read_file_if_any(root_ / "generation", 64));
    if (!text) return 0;
    const auto raw = from_hex(trim(*text));
    std::uint64_t value = 0;
    if (raw && raw->size() == sizeof value) std::memcpy(&value, raw->data(), sizeof value);
    return value;
}

Result<> ObjectStore::advance_generation() const
{
    // Random rather than counted: two that advance at once must not arrive at one number.
    return os::replace_file(root_ / "generation", to_hex(random_bytes(8)) + "\n");
}

}  // namespace ponk::snapshot
