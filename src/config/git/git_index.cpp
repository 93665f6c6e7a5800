// SPDX-License-Identifier: Apache-2.0
#include "config/git/git_index.hpp"

namespace ponk::config {

namespace {

constexpr std::size_t header_size = 12;
constexpr std::size_t stat_size = 40;

class Reader {
public:
    Reader(std::string_view bytes, std::size_t hash_size) : bytes_(bytes), hash_size_(hash_size) {}

    Result<GitIndex> run()
    {
        if (bytes_.size() < header_size + hash_size_ || bytes_.substr(0, 4) != "DIRC")
            return wrong("is not a git index");
        version_ = number(4);
        const auto count = number(8);
        if (version_ < 2 || version_ > 4)
            return fail(ErrorKind::invalid_argument, "git index has version {}", version_);
        GitIndex index;
        index.checksum = bytes_.substr(bytes_.size() - hash_size_);
        bytes_.remove_suffix(hash_size_);
        // An entry has at least 42 bytes and its id: the count cannot promise more than is there.
        if (count > bytes_.size() / (stat_size + hash_size_ + 2)) return wrong("is cut short");
        index.entries.reserve(count);
        at_ = header_size;
        for (std::uint32_t i = 0; i < count; ++i)
            index.entries.push_back(TRY(entry()));
        TRY(extensions());
        return index;
    }

private:
    static tl::unexpected<Error> wrong(std::string_view what)
    {
        return fail(ErrorKind::damaged, "git index {}", what);
    }

    [[nodiscard]] std::uint32_t byte(std::size_t at) const
    {
        return static_cast<unsigned char>(bytes_[at]);
    }
    [[nodiscard]] std::uint32_t number(std::size_t at) const
    {
        return byte(at) << 24U | byte(at + 1) << 16U | byte(at + 2) << 8U | byte(at + 3);
    }
    [[nodiscard]] std::int64_t time(std::size_t at) const
    {
        return std::int64_t{number(at)} * 1'000'000'000 + number(at + 4);
    }

    Result<GitIndexEntry> entry()
    {
        const auto start = at_;
        if (bytes_.size() - at_ < stat_size + hash_size_ + 2) return wrong("is cut short");
        GitIndexEntry entry;
        entry.ctime_ns = time(at_);
        entry.mtime_ns = time(at_ + 8);
        entry.inode = number(at_ + 20);
        entry.mode = number(at_ + 24);
        entry.size = number(at_ + 36);
        at_ += stat_size;
        entry.object_id = bytes_.substr(at_, hash_size_);
        at_ += hash_size_;
        const auto flags = byte(at_) << 8U | byte(at_ + 1);
        at_ += 2;
        entry.assume_valid = (flags & 0x8000U) != 0;
        entry.stage = (flags >> 12U) & 3U;
        if ((flags & 0x4000U) != 0) {
            if (version_ < 3 || bytes_.size() - at_ < 2) return wrong("has wrong flags");
            const auto more = byte(at_) << 8U | byte(at_ + 1);
            at_ += 2;
            entry.skip_worktree = (more & 0x4000U) != 0;
            entry.intent_to_add = (more & 0x2000U) != 0;
        }
        if ((entry.mode & 0170000U) == 0040000U)
            return fail(ErrorKind::invalid_argument, "git index is sparse");
        if (version_ == 4) {
            TRY(compressed_name(entry));
        } else {
            const auto end = bytes_.find('\0', at_);
            if (end == std::string_view::npos) return wrong("has a name without an end");
            entry.path = bytes_.substr(at_, end - at_);
            at_ = start + ((end - start + 8) & ~std::size_t{7});
            if (at_ > bytes_.size()) return wrong("is cut short");
        }
        if (entry.path.empty()) return wrong("has an entry without a name");
        return entry;
    }

    // Version 4: how many bytes to drop from the name before, then what to add.
    Result<> compressed_name(GitIndexEntry& entry)
    {
        std::size_t drop = 0;
        for (int i = 0;; ++i) {
            if (at_ >= bytes_.size() || i > 8) return wrong("has a wrong name length");
            const auto value = byte(at_++);
            if (i > 0) ++drop;
            drop = (drop << 7U) | (value & 0x7fU);
            if ((value & 0x80U) == 0) break;
        }
        const auto end = bytes_.find('\0', at_);
        if (drop > previous_.size() || end == std::string_view::npos)
            return wrong("has a wrong name length");
        previous_.resize(previous_.size() - drop);
        previous_.append(bytes_.substr(at_, end - at_));
        // A name is a path: bounded, so that a small file cannot grow into a large one.
        if (previous_.size() > 65536) return wrong("has a name beyond reason");
        entry.path = previous_;
        at_ = end + 1;
        return {};
    }

    Result<> extensions()
    {
        while (bytes_.size() - at_ >= 8) {
            const auto name = bytes_.substr(at_, 4);
            const auto size = number(at_ + 4);
            if (name == "link" || name == "sdir")
                return fail(ErrorKind::invalid_argument, "git index is split or sparse");
            if (size > bytes_.size() - at_ - 8) return wrong("is cut short");
            at_ += 8 + size;
        }
        return {};
    }

    std::string_view bytes_;
    std::size_t hash_size_;
    std::size_t at_ = 0;
    std::uint32_t version_ = 0;
    std::string previous_;
};

}  // namespace

Result<GitIndex> parse_git_index(std::string_view bytes, std::size_t hash_size)
{
    return Reader(bytes, hash_size).run();
}

}  // namespace ponk::config
