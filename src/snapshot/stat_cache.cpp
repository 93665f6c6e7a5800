// SPDX-License-Identifier: Apache-2.0
#include "snapshot/stat_cache.hpp"

#include <bit>
#include <cstring>
#include <sys/stat.h>

namespace ponk::snapshot {

namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they are");

constexpr std::array<char, 8> magic{'P', 'O', 'N', 'K', 's', 't', 'a', 't'};
constexpr std::uint32_t version = 2;
constexpr std::uint64_t largest_cache = std::uint64_t{4} << 30;

struct Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t folders;
    std::uint32_t files;
    std::uint32_t chunks;
    std::uint64_t names_size;
    std::uint64_t generation;
    std::array<std::uint8_t, 16> store;
    std::array<std::uint8_t, 32> manifest;
    std::array<std::uint8_t, 32> ignore;
    std::uint64_t total_files;
    std::uint64_t total_bytes;
    std::uint32_t memo_offset;
    std::uint32_t memo_length;
};
static_assert(sizeof(Header) == 144);

struct FolderRecord {
    std::uint32_t path_offset;
    std::uint32_t path_length;
    std::uint32_t first_file;
    std::uint32_t file_count;
    std::int64_t mtime_ns;
    std::int64_t ctime_ns;
    std::uint64_t inode;
    std::uint64_t device;
    std::uint32_t left_out_files;
    std::uint32_t left_out_folders;
    std::uint32_t left_out_offset;  // LeftOutNames::text
    std::uint32_t left_out_length;
    std::uint32_t signs_offset;
    std::uint32_t signs_length;
    std::uint64_t flags;
};
static_assert(sizeof(FolderRecord) == 80);

struct FileRecord {
    std::uint64_t size;
    std::int64_t mtime_ns;
    std::int64_t ctime_ns;
    std::uint64_t inode;
    std::uint64_t device;
    std::uint32_t mode;
    std::uint32_t name_offset;
    std::uint16_t name_length;
    std::uint8_t kind;
    std::uint8_t flags;
    std::uint32_t link;                   // child folder, or first chunk
    std::array<std::uint8_t, 32> digest;  // or the chunk count in its first four bytes
};
static_assert(sizeof(FileRecord) == 88);

struct ChunkRecord {
    std::uint64_t size;
    std::array<std::uint8_t, 32> digest;
};
static_assert(sizeof(ChunkRecord) == 40);

constexpr std::uint8_t flag_trusted = 1;
constexpr std::uint8_t flag_chunked = 2;

template <class T>
T load_record(const std::string& bytes, std::size_t at)
{
    T record;
    std::memcpy(&record, bytes.data() + at, sizeof record);
    return record;
}

template <class T>
void append_record(std::string& bytes, const T& record)
{
    bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

std::uint32_t stored_count(const FileRecord& record)
{
    std::uint32_t count = 0;
    std::memcpy(&count, record.digest.data(), sizeof count);
    return count;
}

}  // namespace

std::optional<StatCache> StatCache::load(const os::Path& path)
{
    auto bytes = os::read_file_if_any(path, largest_cache);
    if (!bytes || !*bytes) return std::nullopt;
    return parse(std::move(**bytes));
}

std::optional<StatCache> StatCache::parse(std::string bytes)
{
    constexpr std::size_t seal = 32;
    if (bytes.size() < sizeof(Header) + seal) return std::nullopt;
    const auto header = load_record<Header>(bytes, 0);
    if (header.magic != magic || header.version != version) return std::nullopt;
    StatCache cache;
    cache.folder_count_ = header.folders;
    cache.file_count_ = header.files;
    cache.chunk_count_ = header.chunks;
    cache.folders_at_ = sizeof(Header);
    cache.files_at_ = cache.folders_at_ + header.folders * sizeof(FolderRecord);
    cache.chunks_at_ = cache.files_at_ + header.files * sizeof(FileRecord);
    cache.names_at_ = cache.chunks_at_ + header.chunks * sizeof(ChunkRecord);
    cache.names_size_ = header.names_size;
    if (header.names_size > bytes.size() ||
        cache.names_at_ + header.names_size + seal != bytes.size() || header.folders == 0)
        return std::nullopt;
    const std::string_view content(bytes.data(), bytes.size() - seal);
    const auto sum = sha256(content);
    if (std::memcmp(sum.bytes.data(), bytes.data() + content.size(), seal) != 0)
        return std::nullopt;
    cache.bytes_ = std::move(bytes);
    if (std::uint64_t{header.memo_offset} + header.memo_length > header.names_size ||
        !cache.check_records())
        return std::nullopt;
    cache.facts_ = {header.store,
                    header.generation,
                    Digest{header.manifest},
                    Digest{header.ignore},
                    header.total_files,
                    header.total_bytes,
                    std::string(cache.text(header.memo_offset, header.memo_length))};
    return cache;
}

bool StatCache::check_records() const
{
    // Every text is followed by a NUL inside the names, so C strings may be made of them.
    const auto fits = [this](std::uint64_t offset, std::uint64_t length) {
        return offset + length < names_size_ && bytes_[names_at_ + offset + length] == '\0';
    };
    for (std::uint32_t i = 0; i < folder_count_; ++i) {
        const auto record =
            load_record<FolderRecord>(bytes_, folders_at_ + i * sizeof(FolderRecord));
        if (!fits(record.path_offset, record.path_length) ||
            !fits(record.left_out_offset, record.left_out_length) ||
            !fits(record.signs_offset, record.signs_length))
            return false;
        if (std::uint64_t{record.first_file} + record.file_count > file_count_) return false;
        // A child comes after its parent, so following children ends.
        for (std::uint32_t k = 0; k < record.file_count; ++k) {
            const auto file = load_record<FileRecord>(
                bytes_, files_at_ + (record.first_file + k) * sizeof(FileRecord));
            if (static_cast<EntryKind>(file.kind) == EntryKind::folder &&
                (file.link <= i || file.link >= folder_count_))
                return false;
        }
    }
    for (std::uint32_t i = 0; i < file_count_; ++i) {
        const auto record = load_record<FileRecord>(bytes_, files_at_ + i * sizeof(FileRecord));
        const auto kind = static_cast<EntryKind>(record.kind);
        if (record.kind > static_cast<std::uint8_t>(EntryKind::folder)) return false;
        if (!fits(record.name_offset, record.name_length) || record.name_length == 0) return false;
        if (kind == EntryKind::link &&
            (record.size > names_size_ ||
             !fits(std::uint64_t{record.name_offset} + record.name_length + 1, record.size)))
            return false;
        if ((record.flags & flag_chunked) != 0 &&
            std::uint64_t{record.link} + stored_count(record) > chunk_count_)
            return false;
    }
    return true;
}

std::string_view StatCache::text(std::uint64_t offset, std::uint64_t length) const
{
    return {bytes_.data() + names_at_ + offset, length};
}

CachedFolder StatCache::folder(std::uint32_t index) const
{
    const auto record =
        load_record<FolderRecord>(bytes_, folders_at_ + index * sizeof(FolderRecord));
    CachedFolder folder;
    folder.path = text(record.path_offset, record.path_length);
    folder.status.mtime_ns = record.mtime_ns;
    folder.status.ctime_ns = record.ctime_ns;
    folder.status.inode = record.inode;
    folder.status.device = record.device;
    folder.trusted = (record.flags & flag_trusted) != 0;
    folder.first_file = record.first_file;
    folder.file_count = record.file_count;
    folder.left_out = {record.left_out_files,
                       record.left_out_folders,
                       std::string(text(record.left_out_offset, record.left_out_length))};
    folder.signs = text(record.signs_offset, record.signs_length);
    return folder;
}

CachedFile StatCache::file(std::uint32_t index) const
{
    const auto record = load_record<FileRecord>(bytes_, files_at_ + index * sizeof(FileRecord));
    CachedFile file;
    file.name = text(record.name_offset, record.name_length);
    file.kind = static_cast<EntryKind>(record.kind);
    file.trusted = (record.flags & flag_trusted) != 0;
    file.status.size = record.size;
    file.status.mtime_ns = record.mtime_ns;
    file.status.ctime_ns = record.ctime_ns;
    file.status.inode = record.inode;
    file.status.device = record.device;
    file.status.mode = record.mode;
    if (file.kind == EntryKind::link)
        file.target = text(record.name_offset + record.name_length + 1U, record.size);
    if (file.kind == EntryKind::folder) {
        file.child = record.link;
    } else if ((record.flags & flag_chunked) != 0) {
        file.first_chunk = record.link;
        file.chunk_count = stored_count(record);
    } else {
        file.digest.bytes = record.digest;
    }
    return file;
}

std::vector<Chunk> StatCache::chunks(const CachedFile& file) const
{
    std::vector<Chunk> out;
    out.reserve(file.chunk_count);
    for (std::uint32_t i = 0; i < file.chunk_count; ++i) {
        const auto record = load_record<ChunkRecord>(
            bytes_, chunks_at_ + (file.first_chunk + i) * sizeof(ChunkRecord));
        out.push_back({record.size, Digest{record.digest}});
    }
    return out;
}

std::uint32_t StatCacheBuilder::folder_count() const
{
    return static_cast<std::uint32_t>(folders_.size() / sizeof(FolderRecord));
}

std::uint32_t StatCacheBuilder::file_count() const
{
    return static_cast<std::uint32_t>(files_.size() / sizeof(FileRecord));
}

void StatCacheBuilder::add_folder(std::string_view path,
                                  const os::FileStatus& status,
                                  bool trusted,
                                  const LeftOutNames& left_out,
                                  std::string_view signs)
{
    FolderRecord record{};
    record.path_offset = static_cast<std::uint32_t>(names_.size());
    record.path_length = static_cast<std::uint32_t>(path.size());
    record.first_file = file_count();
    record.mtime_ns = status.mtime_ns;
    record.ctime_ns = status.ctime_ns;
    record.inode = status.inode;
    record.device = status.device;
    record.flags = trusted ? flag_trusted : 0;
    names_.append(path).push_back('\0');
    record.left_out_files = left_out.files;
    record.left_out_folders = left_out.folders;
    record.left_out_offset = static_cast<std::uint32_t>(names_.size());
    record.left_out_length = static_cast<std::uint32_t>(left_out.text.size());
    names_.append(left_out.text).push_back('\0');
    record.signs_offset = static_cast<std::uint32_t>(names_.size());
    record.signs_length = static_cast<std::uint32_t>(signs.size());
    names_.append(signs).push_back('\0');
    append_record(folders_, record);
}

void StatCacheBuilder::add_file(const CachedFile& file, std::span<const Chunk> chunks)
{
    FileRecord record{};
    record.size = file.status.size;
    record.mtime_ns = file.status.mtime_ns;
    record.ctime_ns = file.status.ctime_ns;
    record.inode = file.status.inode;
    record.device = file.status.device;
    record.mode = file.status.mode;
    record.name_offset = static_cast<std::uint32_t>(names_.size());
    record.name_length = static_cast<std::uint16_t>(file.name.size());
    record.kind = static_cast<std::uint8_t>(file.kind);
    record.flags = file.trusted ? flag_trusted : 0;
    record.link = file.child;
    record.digest = file.digest.bytes;
    names_.append(file.name).push_back('\0');
    if (file.kind == EntryKind::link) {
        record.size = file.target.size();
        names_.append(file.target).push_back('\0');
    }
    if (!chunks.empty()) {
        record.flags |= flag_chunked;
        record.link = static_cast<std::uint32_t>(chunks_.size() / sizeof(ChunkRecord));
        const auto count = static_cast<std::uint32_t>(chunks.size());
        std::memcpy(record.digest.data(), &count, sizeof count);
        for (const auto& chunk : chunks)
            append_record(chunks_, ChunkRecord{chunk.size, chunk.digest.bytes});
    }
    append_record(files_, record);
    // The folder this file belongs to is the one added last.
    auto folder = load_record<FolderRecord>(folders_, folders_.size() - sizeof(FolderRecord));
    ++folder.file_count;
    std::memcpy(folders_.data() + folders_.size() - sizeof folder, &folder, sizeof folder);
}

void StatCacheBuilder::set_child(std::uint32_t file, std::uint32_t folder)
{
    std::memcpy(files_.data() + file * sizeof(FileRecord) + offsetof(FileRecord, link),
                &folder,
                sizeof folder);
}

std::string StatCacheBuilder::bytes(const CacheFacts& facts)
{
    Header header{};
    header.magic = magic;
    header.version = version;
    header.folders = folder_count();
    header.files = file_count();
    header.chunks = static_cast<std::uint32_t>(chunks_.size() / sizeof(ChunkRecord));
    header.generation = facts.generation;
    header.store = facts.store;
    header.manifest = facts.manifest.bytes;
    header.ignore = facts.ignore.bytes;
    header.total_files = facts.files;
    header.total_bytes = facts.bytes;
    header.memo_offset = static_cast<std::uint32_t>(names_.size());
    header.memo_length = static_cast<std::uint32_t>(facts.git_memo.size());
    names_.append(facts.git_memo).push_back('\0');
    header.names_size = names_.size();
    std::string out;
    out.reserve(sizeof header + folders_.size() + files_.size() + chunks_.size() + names_.size() +
                32);
    append_record(out, header);
    out += folders_;
    out += files_;
    out += chunks_;
    out += names_;
    const auto sum = sha256(out);
    out.append(reinterpret_cast<const char*>(sum.bytes.data()), sum.bytes.size());
    return out;
}

}  // namespace ponk::snapshot
