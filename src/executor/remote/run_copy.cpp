// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/run_copy.hpp"

#include "base/hash.hpp"
#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/journals.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor::remote {

namespace {

constexpr const char* first_log = "log.first";
constexpr std::size_t most_pieces = 1000;  // of one answer, of files with holes
constexpr std::size_t most_files = Journals::most + most_pieces + 1;  // and the log
const std::string journals = std::string(control::journal) + "/";

std::uint64_t size_of(const Path& file)
{
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    return static_cast<std::uint64_t>(info.st_size);
}

bool is_name_of_a_run(const std::string& name)
{
    if (name == control::log) return true;
    return name.starts_with(journals) && Journals::is_name(name.substr(journals.size()));
}

KeyedMap<std::uint64_t, std::string_view> by_name(const std::vector<GrowingFile>& files)
{
    KeyedMap<std::uint64_t, std::string_view> out;
    for (const auto& file : files)
        out.emplace(file.name, file.offset);
    return out;
}

}  // namespace

void add_lengths(const RunDirectory& directory,
                 const std::vector<GrowingFile>& there,
                 JobStatus& seen)
{
    const auto lengths = by_name(there);
    for (const auto& file : growing_files(directory)) {
        const auto known = lengths.find(file.name);
        if (known == lengths.end()) continue;
        (file.name == control::log ? seen.log_length : seen.journal_length) += known->second;
    }
}

namespace {

std::vector<GrowingFile> growing_files(const RunDirectory& directory,
                                       const std::vector<Journals::File>& found)
{
    std::vector<GrowingFile> out{
        {control::log, std::min(size_of(directory.task() / control::log), longest_log)}};
    for (const auto& journal : found)
        out.push_back({journals + journal.name, journal.size});
    return out;
}

// Fills an increment with what is new in one file after the other.
class IncrementReader {
public:
    [[nodiscard]] bool full() const
    {
        return out.bytes.size() >= most_at_once || pieces_ >= most_pieces;
    }
    // `file.offset` is where the daemon's copy ends, `length` where ours does.
    Result<> add(int fd, GrowingFile file, std::uint64_t length)
    {
        bool first = true;  // goes along even when it is empty: the daemon makes the file
        while (first || file.offset < length) {
            if (!first && full()) {
                out.more = true;
                break;
            }
            const auto at = os::data_from(fd, file.offset, length);
            const auto end = os::hole_from(fd, at, length);
            const auto room = most_at_once - std::min(most_at_once, out.bytes.size());
            const auto bytes = TRY(os::read_at(fd, at, std::min<std::uint64_t>(room, end - at)));
            file.hole = at - file.offset;
            file.size = bytes.size();
            out.bytes += bytes;
            out.files.push_back(file);
            pieces_ += first ? 0U : 1U;
            if (bytes.empty() && file.hole == 0) break;  // it was cut while we looked
            file.offset += file.hole + file.size;
            first = false;
        }
        return {};
    }

    Increment out;

private:
    std::size_t pieces_ = 0;
};

}  // namespace

std::vector<GrowingFile> growing_files(const RunDirectory& directory)
{
    return growing_files(directory, Journals::of(directory).list());
}

Result<Increment>
read_increment(const RunDirectory& directory, const std::vector<GrowingFile>& there, Wanted wanted)
{
    IncrementReader reader;
    const auto folder = Journals::of(directory);
    const auto lengths = by_name(there);
    // One look for all of it: there may be thousands of them.
    const auto found = folder.look();
    reader.out.left_out = found.left_out;
    std::size_t known_files = there.size();
    std::uint64_t journal_bytes = 0;
    for (const auto& file : there)
        journal_bytes += file.name == control::log ? 0 : file.offset;
    for (auto& file : growing_files(directory, found.files)) {
        const auto known = lengths.find(file.name);
        const auto length = file.offset;
        const bool is_log = file.name == control::log;
        // The daemon does not take more than so much of what a script may have made without end.
        if (!is_log && known == lengths.end() && ++known_files > Journals::most + 1) {
            ++reader.out.left_out;
            continue;
        }
        file.offset = known == lengths.end() ? 0 : known->second;
        if (file.offset == length && known != lengths.end()) continue;
        if (file.offset > length) file.offset = 0;
        if (!is_log && journal_bytes + length - file.offset > longest_journals) {
            ++reader.out.left_out;
            continue;
        }
        if ((reader.full() || wanted == Wanted::lengths) && length > file.offset) {
            reader.out.more = true;
            break;
        }
        if (wanted == Wanted::lengths) continue;
        // A link that took its place since leads nowhere.
        const auto opened = is_log
                                ? os::open_regular(directory.task() / file.name, os::Links::refuse)
                                : folder.open(file.name.substr(journals.size()));
        if (!opened) continue;
        if (!is_log) journal_bytes += length - file.offset;
        TRY(reader.add(opened->get(), std::move(file), length));
    }
    return std::move(reader.out);
}

Result<> apply_increment(const RunDirectory& directory, const Increment& increment)
{
    std::string_view rest = increment.bytes;
    for (const auto& file : increment.files) {
        if (!is_name_of_a_run(file.name) || file.size > rest.size() || file.offset > longest_log ||
            file.hole > longest_log - file.offset)
            return fail(ErrorKind::damaged, "the host sent a file '{}'", printable(file.name));
        const auto path = directory.task() / file.name;
        // The script cut or removed its log: what it said before is not taken back.
        if (file.name == control::log && file.offset < size_of(path)) TRY(set_log_aside(directory));
        const auto opened = TRY(os::open_file(path, O_WRONLY | O_CREAT | O_NOFOLLOW));
        const auto have = size_of(path);
        if (have < file.offset) {
            return fail(ErrorKind::damaged,
                        "our copy of '{}' has {} bytes, but the host continues from {}",
                        printable(file.name),
                        have,
                        file.offset);
        }
        if (have > file.offset && ::ftruncate(opened.get(), static_cast<off_t>(file.offset)) != 0)
            return fail_errno(errno, "write {}", os::in_quotes(path));
        if (file.hole > 0 &&
            ::ftruncate(opened.get(), static_cast<off_t>(file.offset + file.hole)) != 0)
            return fail_errno(errno, "write {}", os::in_quotes(path));
        ::lseek(opened.get(), 0, SEEK_END);
        TRY(os::write_all(opened.get(), rest.substr(0, file.size)));
        rest.remove_prefix(file.size);
    }
    return {};
}

Result<> set_log_aside(const RunDirectory& directory)
{
    const auto log = directory.task() / control::log;
    const auto first = directory.task() / first_log;
    if (size_of(log) <= size_of(first)) return os::replace_file(log, "");
    if (::rename(log.c_str(), first.c_str()) != 0)
        return fail_errno(errno, "rename {}", os::in_quotes(log));
    return os::replace_file(log, "");
}

Result<> keep_one_log(const RunDirectory& directory, LogState state)
{
    const auto log = directory.task() / control::log;
    const auto first = directory.task() / first_log;
    if (!is_there(first)) return {};
    if (state == LogState::same || size_of(first) <= size_of(log)) return os::remove_tree(first);
    if (::rename(first.c_str(), log.c_str()) != 0)
        return fail_errno(errno, "rename {}", os::in_quotes(first));
    return {};
}

Json to_json(const std::vector<GrowingFile>& files)
{
    JsonArray out;
    for (const auto& file : files)
        out.emplace_back(JsonArray{file.name, file.offset, file.size, file.hole});
    return out;
}

Result<std::vector<GrowingFile>> parse_growing_files(const Json& list)
{
    std::vector<GrowingFile> out;
    if (!list.is_array() || list.as_array().size() > most_files)
        return fail(ErrorKind::damaged, "a message: 'files' is not a list");
    for (const auto& item : list.as_array()) {
        const auto number = [&item](std::size_t at) {
            return item.as_array()[at].is_integer() && item.as_array()[at].as_integer() >= 0;
        };
        const bool good = item.is_array() && item.as_array().size() == 4 &&
                          item.as_array()[0].is_string() && number(1) && number(2) && number(3);
        if (!good) return fail(ErrorKind::damaged, "a message: 'files' is not a list of files");
        const auto value = [&item](std::size_t at) {
            return static_cast<std::uint64_t>(item.as_array()[at].as_integer());
        };
        out.push_back({item.as_array()[0].as_string(), value(1), value(2), value(3)});
    }
    return out;
}

Result<LogState> finish_copy(const RunDirectory& directory, const model::ExitRecord& exit)
{
    for (const auto& file : growing_files(directory)) {
        const auto opened = os::open_file(directory.task() / file.name, O_RDONLY | O_NOFOLLOW);
        if (opened && ::fsync(opened->get()) != 0)
            return fail_errno(errno, "flush {}", os::in_quotes(directory.task() / file.name));
    }
    if (exit.log_sha256.empty()) return LogState::same;
    if (size_of(directory.task() / control::log) != exit.log_length) return LogState::different;
    const auto log = os::open_file(directory.task() / control::log, O_RDONLY | O_NOFOLLOW);
    Sha256 hash;
    for (std::uint64_t at = 0; log;) {
        const auto piece = TRY(os::read_at(log->get(), at, std::size_t{1} << 20));
        if (piece.empty()) break;
        hash.update(piece);
        at += piece.size();
    }
    return hash.finish().text() == exit.log_sha256 ? LogState::same : LogState::different;
}

}  // namespace ponk::executor::remote
