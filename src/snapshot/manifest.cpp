// SPDX-License-Identifier: Apache-2.0
#include "snapshot/manifest.hpp"

#include "base/text.hpp"
#include "base/work_count.hpp"

#include <algorithm>
#include <array>

namespace ponk::snapshot {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

// Control bytes and the backslash as \xHH, so that every entry is one line.
void append_escaped(std::string& text, std::string_view bytes)
{
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7f && byte != '\\') {
            text += c;
        } else {
            text += "\\x";
            text += hex_digits[byte >> 4U];
            text += hex_digits[byte & 15U];
        }
    }
}

void append_hex(std::string& text, const Digest& digest)
{
    std::array<char, 64> out;
    std::size_t at = 0;
    for (const auto byte : digest.bytes) {
        out[at++] = hex_digits[byte >> 4U];
        out[at++] = hex_digits[byte & 15U];
    }
    text.append(out.data(), out.size());
}

void append_kind(std::string& text, EntryKind kind, std::uint64_t size)
{
    text += kind == EntryKind::executable ? "x " : "f ";
    text += std::to_string(size);
    text += ' ';
}

}  // namespace

void append_manifest_header(std::string& text)
{
    text += "ponk manifest 1\n";
}

void append_folder(std::string& text, std::string_view path)
{
    text += "d ";
    append_escaped(text, path);
    text += "/\n";
}

void append_file(std::string& text,
                 EntryKind kind,
                 std::uint64_t size,
                 const Digest& digest,
                 std::string_view path)
{
    append_kind(text, kind, size);
    append_hex(text, digest);
    text += ' ';
    append_escaped(text, path);
    text += '\n';
}

void append_chunked_file(std::string& text,
                         EntryKind kind,
                         std::uint64_t size,
                         const std::vector<Chunk>& chunks,
                         std::string_view path)
{
    append_kind(text, kind, size);
    text += '*';
    text += std::to_string(chunks.size());
    text += ' ';
    append_escaped(text, path);
    text += '\n';
    for (const auto& chunk : chunks) {
        text += "* ";
        text += std::to_string(chunk.size);
        text += ' ';
        append_hex(text, chunk.digest);
        text += '\n';
    }
}

void append_link(std::string& text, std::string_view path, std::string_view target)
{
    text += "l ";
    append_escaped(text, path);
    text += "\n> ";
    append_escaped(text, target);
    text += '\n';
}

int compare_in_manifest(std::string_view left,
                        EntryKind left_kind,
                        std::string_view right,
                        EntryKind right_kind)
{
    const auto common = std::min(left.size(), right.size());
    if (const int order = left.substr(0, common).compare(right.substr(0, common)); order != 0)
        return order;
    const auto next = [common](std::string_view path, EntryKind kind) {
        if (path.size() > common) return static_cast<int>(static_cast<unsigned char>(path[common]));
        return kind == EntryKind::folder ? static_cast<int>('/') : -1;
    };
    const int left_next = next(left, left_kind);
    const int right_next = next(right, right_kind);
    if (left_next != right_next) return left_next < right_next ? -1 : 1;
    return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}

std::string Manifest::text() const
{
    std::string out;
    out.reserve(64 + entries_.size() * 128);
    append_manifest_header(out);
    for (const auto& entry : entries_) {
        if (entry.kind == EntryKind::folder) {
            append_folder(out, entry.path);
        } else if (entry.kind == EntryKind::link) {
            append_link(out, entry.path, entry.target);
        } else if (entry.chunks.empty()) {
            append_file(out, entry.kind, entry.size, entry.digest, entry.path);
        } else {
            append_chunked_file(out, entry.kind, entry.size, entry.chunks, entry.path);
        }
    }
    return out;
}

namespace {

bool before(const ManifestEntry& left, const ManifestEntry& right)
{
    return compare_in_manifest(left.path, left.kind, right.path, right.kind) < 0;
}

std::string_view parent_of(std::string_view path)
{
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

// Relative, and without the parts that could lead anywhere else.
bool is_plain_path(std::string_view path)
{
    if (path.empty() || path.find('\0') != std::string_view::npos) return false;
    while (true) {
        const auto slash = path.find('/');
        const auto part = path.substr(0, slash);
        if (part.empty() || part == "." || part == "..") return false;
        if (slash == std::string_view::npos) return true;
        path.remove_prefix(slash + 1);
    }
}

const ManifestEntry*
find_entry(const std::vector<ManifestEntry>& entries, std::string_view path, EntryKind kind)
{
    const auto at =
        std::lower_bound(entries.begin(),
                         entries.end(),
                         path,
                         [kind](const ManifestEntry& entry, std::string_view key) {
                             return compare_in_manifest(entry.path, entry.kind, key, kind) < 0;
                         });
    return at != entries.end() && at->path == path &&
                   (at->kind == EntryKind::folder) == (kind == EntryKind::folder)
               ? &*at
               : nullptr;
}

// What a sorted list must keep for a tree to be made of it safely.
Result<> check_tree(const std::vector<ManifestEntry>& entries)
{
    std::vector<std::string_view> open;  // the folders around the present entry
    const ManifestEntry* previous = nullptr;
    for (const auto& entry : entries) {
        const auto quoted = printable(entry.path);
        if (!is_plain_path(entry.path))
            return fail(ErrorKind::invalid_argument, "'{}' is not a path inside a tree", quoted);
        if (previous && !before(*previous, entry))
            return fail(ErrorKind::invalid_argument, "'{}' is out of order or twice there", quoted);
        previous = &entry;
        const auto parent = parent_of(entry.path);
        while (!open.empty() && open.back() != parent &&
               !(parent.starts_with(open.back()) && parent[open.back().size()] == '/'))
            open.pop_back();
        if (!parent.empty() && (open.empty() || open.back() != parent))
            return fail(ErrorKind::invalid_argument, "'{}' has no folder above it", quoted);
        if (entry.kind == EntryKind::folder) {
            if (find_entry(entries, entry.path, EntryKind::file))
                return fail(ErrorKind::invalid_argument, "'{}' is a file and a folder", quoted);
            open.push_back(entry.path);
        }
        if (entry.kind == EntryKind::link &&
            (entry.target.empty() || entry.target.find('\0') != std::string::npos))
            return fail(ErrorKind::invalid_argument, "link '{}' points nowhere", quoted);
        std::uint64_t total = 0;
        for (const auto& chunk : entry.chunks) {
            if (chunk.size == 0 || chunk.size > entry.size - total)
                return fail(
                    ErrorKind::invalid_argument, "the chunks of '{}' have wrong sizes", quoted);
            total += chunk.size;
        }
        if (!entry.chunks.empty() && total != entry.size)
            return fail(ErrorKind::invalid_argument, "the chunks of '{}' do not add up", quoted);
    }
    return {};
}

// Reads the text form line by line.
class Parser {
public:
    explicit Parser(std::string_view text) : rest_(text) {}

    Result<std::vector<ManifestEntry>> run()
    {
        if (next_line() != "ponk manifest 1") return wrong("does not start with 'ponk manifest 1'");
        std::vector<ManifestEntry> entries;
        while (!rest_.empty())
            entries.push_back(TRY(entry()));
        if (unfinished_) return wrong("does not end in a newline");
        return entries;
    }

private:
    std::string_view next_line()
    {
        ++line_;
        const auto end = rest_.find('\n');
        const auto line = rest_.substr(0, end);
        if (end == std::string_view::npos) unfinished_ = true;
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
        return line;
    }

    [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const
    {
        return fail(ErrorKind::damaged, "manifest line {}: {}", line_, what);
    }

    static std::string_view take_word(std::string_view& line)
    {
        const auto end = std::min(line.find(' '), line.size());
        const auto word = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
        return word;
    }

    // Canonical decimal: no sign, no leading zero.
    static std::optional<std::uint64_t> number(std::string_view word)
    {
        if (word.empty() || word.size() > 18 || (word.size() > 1 && word[0] == '0')) return {};
        std::uint64_t value = 0;
        for (const char c : word) {
            if (c < '0' || c > '9') return {};
            value = value * 10 + static_cast<std::uint64_t>(c - '0');
        }
        return value;
    }

    static bool digest(std::string_view word, Digest& out)
    {
        return std::none_of(
                   word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'F'; }) &&
               parse_digest(word, out);
    }

    Result<std::string> unescape(std::string_view text) const
    {
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\\') {
                out += text[i];
                continue;
            }
            const auto byte = text.substr(i).size() >= 4 && text[i + 1] == 'x'
                                  ? from_hex(text.substr(i + 2, 2))
                                  : std::nullopt;
            if (!byte) return wrong("has an escape that is not \\xHH");
            out += *byte;
            i += 3;
        }
        std::string again;
        append_escaped(again, out);
        if (again != text) return wrong("has a name that is not written canonically");
        return out;
    }

    Result<ManifestEntry> entry()
    {
        auto line = next_line();
        const auto type = take_word(line);
        ManifestEntry out;
        if (type == "d") {
            out.kind = EntryKind::folder;
            if (!line.ends_with('/')) return wrong("names a folder without a final '/'");
            line.remove_suffix(1);
        } else if (type == "l") {
            out.kind = EntryKind::link;
            out.path = TRY(unescape(line));
            auto target = next_line();
            if (take_word(target) != ">") return wrong("is not the target of a link");
            out.target = TRY(unescape(target));
            return out;
        } else if (type == "f" || type == "x") {
            out.kind = type == "x" ? EntryKind::executable : EntryKind::file;
            TRY(contents(line, out));
            return out;
        } else {
            return wrong("has an unknown type");
        }
        out.path = TRY(unescape(line));
        return out;
    }

    Result<> contents(std::string_view line, ManifestEntry& out)
    {
        const auto size = number(take_word(line));
        if (!size) return wrong("has no size");
        out.size = *size;
        const auto word = take_word(line);
        out.path = TRY(unescape(line));
        if (!word.starts_with('*'))
            return digest(word, out.digest) ? Result<>{} : wrong("has no digest");
        const auto count = number(word.substr(1));
        // Each chunk is a line, so a count beyond the text's length is a lie.
        if (!count || *count == 0 || *count > rest_.size()) return wrong("has no chunk count");
        for (std::uint64_t i = 0; i < *count; ++i) {
            auto chunk_line = next_line();
            Chunk chunk;
            if (take_word(chunk_line) != "*") return wrong("is not a chunk");
            const auto length = number(take_word(chunk_line));
            if (!length || !digest(chunk_line, chunk.digest)) return wrong("is not a chunk");
            chunk.size = *length;
            out.chunks.push_back(chunk);
        }
        return {};
    }

    std::string_view rest_;
    std::size_t line_ = 0;
    bool unfinished_ = false;
};

}  // namespace

Result<Manifest> Manifest::from_entries(std::vector<ManifestEntry> entries)
{
    std::sort(entries.begin(), entries.end(), before);
    TRY(check_tree(entries));
    return Manifest(std::move(entries));
}

Result<Manifest> Manifest::parse(std::string_view text)
{
    auto entries = TRY(Parser(text).run());
    TRY(check_tree(entries).map_error([](const Error& error) {
        return Error(ErrorKind::damaged, "manifest: " + error.message());
    }));
    return Manifest(std::move(entries));
}

const ManifestEntry* Manifest::find(std::string_view path) const
{
    if (const auto* found = find_entry(entries_, path, EntryKind::file)) return found;
    return find_entry(entries_, path, EntryKind::folder);
}

std::span<const ManifestEntry> Manifest::below(std::string_view folder) const
{
    if (folder.empty()) return entries_;
    const auto* const entry = find_entry(entries_, folder, EntryKind::folder);
    if (!entry) return {};
    const std::span rest(entry + 1, entries_.data() + entries_.size());
    const auto end = std::partition_point(rest.begin(), rest.end(), [folder](const auto& each) {
        count_work();
        const auto& path = each.path;
        return path.size() > folder.size() && path[folder.size()] == '/' &&
               path.starts_with(folder);
    });
    return rest.first(static_cast<std::size_t>(end - rest.begin()));
}

std::uint64_t Manifest::file_count() const
{
    return static_cast<std::uint64_t>(
        std::count_if(entries_.begin(), entries_.end(), [](const auto& e) { return e.is_file(); }));
}

std::uint64_t Manifest::byte_count() const
{
    std::uint64_t total = 0;
    for (const auto& entry : entries_)
        total += entry.size;
    return total;
}

}  // namespace ponk::snapshot
