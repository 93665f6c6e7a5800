// SPDX-License-Identifier: Apache-2.0
#include "relay/journal.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "model/metric_journal.hpp"
#include "os/directory.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::relay {

namespace {

constexpr std::string_view prefix = "relay-";
constexpr std::string_view suffix = ".journal";
constexpr std::uint64_t reserve = std::uint64_t{256} << 10;
constexpr std::size_t block = 2 * model::journal_record_limit;

bool is_ours(const os::Entry& entry)
{
    return entry.type == DT_REG && entry.name.starts_with(prefix) && entry.name.ends_with(suffix);
}

Result<std::vector<std::string>> own_names(const os::Path& folder)
{
    std::vector<std::string> names;
    for (auto& entry : TRY(os::list_directory(folder))) {
        if (is_ours(entry)) names.push_back(std::move(entry.name));
    }
    return names;
}

// The number in "relay-00000007-….journal".
std::int64_t number_of(const std::string& name)
{
    return parse_integer(name.substr(prefix.size(), 8)).value_or(0);
}

Error cannot_write(int problem)
{
    const auto error = system_error(problem, "write the run's journal");
    // Whatever it is, the client may ask again.
    return {ErrorKind::unavailable, error.message()};
}

Result<> read_one(const os::Path& path,
                  std::uint64_t& offset,
                  const std::function<void(std::string_view)>& visit)
{
    const auto file = TRY(os::open_regular(path, os::Links::refuse));
    for (;;) {
        const auto bytes = TRY(os::read_at(file.get(), offset, block));
        const auto scan = model::scan_journal(bytes, offset, [&visit](std::string_view payload) {
            visit(payload);
            return true;
        });
        if (scan.next == offset) return {};
        offset = scan.next;
    }
}

}  // namespace

Journal::Journal(os::Path folder, std::string run)
    : folder_(std::move(folder)), run_(std::move(run))
{
}

Journal::~Journal()
{
    // What was reserved behind the end is given back.
    [[maybe_unused]] const int given =
        file_ ? ::ftruncate(file_.get(), static_cast<off_t>(size_)) : 0;
}

Result<> Journal::begin()
{
    const auto names = TRY(own_names(folder_).map_error([](const Error& error) {
        return Error(ErrorKind::unavailable, error.message(), error.hint());
    }));
    const auto number = names.empty() ? 1 : number_of(names.back()) + 1;
    const auto name = fmt::format("{}{:08}-{}{}", prefix, number, to_hex(random_bytes(4)), suffix);
    os::Fd file(::open((folder_ / name).c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                       0600));
    if (!file) return tl::unexpected(cannot_write(errno));
    file_ = std::move(file);
    size_ = reserved_ = 0;
    return os::sync_directory(folder_);
}

// The disk says here that it is full, before anything was written: what is refused is not there.
Result<> Journal::make_room(std::size_t bytes)
{
    if (size_ + bytes <= reserved_) return {};
    for (const auto ahead : {reserve, std::uint64_t{0}}) {
        const auto end = size_ + bytes + ahead;
        if (::fallocate(file_.get(),
                        FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(size_),
                        static_cast<off_t>(end - size_)) == 0) {
            reserved_ = end;
            return {};
        }
        if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return {};
    }
    return tl::unexpected(cannot_write(errno));
}

Result<> Journal::append(std::string_view records)
{
    std::string with_head;
    if (!file_ || size_ + records.size() > longest) TRY(begin());
    if (size_ == 0) {
        with_head = model::journal_record(JsonObject{{"journal", 1},
                                                     {"run", run_},
                                                     {"pid", std::int64_t{::getpid()}},
                                                     {"time", wall_milliseconds()}});
        with_head += records;
        records = with_head;
    }
    TRY(make_room(records.size()));
    const auto written = os::write_all(file_.get(), records);
    const int problem = written && ::fdatasync(file_.get()) != 0 ? errno : 0;
    if (written && problem == 0) {
        size_ += records.size();
        return {};
    }
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) file_.reset();
    reserved_ = 0;
    if (!written) return tl::unexpected(Error(ErrorKind::unavailable, written.error().message()));
    return tl::unexpected(cannot_write(problem));
}

Result<> Journal::read(const std::function<void(std::string_view payload)>& visit) const
{
    Position begin;
    return read_on(begin, visit);
}

Result<> Journal::read_on(Position& position,
                          const std::function<void(std::string_view payload)>& visit) const
{
    for (auto& name : TRY(own_names(folder_))) {
        if (name < position.name) continue;
        if (name > position.name) position = {std::move(name), 0};
        TRY(read_one(folder_ / position.name, position.offset, visit));
    }
    return {};
}

}  // namespace ponk::relay
