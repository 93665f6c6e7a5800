// SPDX-License-Identifier: Apache-2.0
#include "environment/cache/cache.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::environment {

namespace {

constexpr const char* record_file = "environment.json";
constexpr const char* lock_file = "lock.json";
constexpr const char* used_file = "used";
constexpr std::uint64_t record_limit = std::uint64_t{64} << 20;

// An id is a file name; nothing else may reach a path.
bool is_id(std::string_view text)
{
    return text.size() >= 32 && is_key(text.substr(0, 32)) &&
           (text.size() == 32 ||
            (text[32] == '.' && text.size() <= 64 &&
             text.find_first_not_of("0123456789abcdef", 33) == std::string_view::npos));
}

std::int64_t modified(const Path& path)
{
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return 0;
    return std::int64_t{info.st_mtim.tv_sec} * 1000 + info.st_mtim.tv_nsec / 1'000'000;
}

}  // namespace

Cache::Cache(Path home) : root_(std::move(home) / "envs") {}

Path Cache::folder(const std::string& id) const
{
    return root_ / id;
}

Path Cache::lock_path(const std::string& id) const
{
    return root_ / ".locks" / id;
}

Result<std::optional<Record>> Cache::find(const std::string& id) const
{
    if (!is_id(id)) return std::nullopt;
    const auto text = TRY(os::read_file_if_any(folder(id) / record_file, record_limit));
    if (!text) return std::nullopt;
    auto record = parse_record(*text);
    // One that cannot be understood counts as missing: it is built again.
    if (!record || record->id != id) return std::nullopt;
    return std::move(*record);
}

Result<std::vector<std::string>> Cache::ids() const
{
    auto entries = os::list_directory(root_);
    if (!entries) {
        if (entries.error().kind() == ErrorKind::not_found) return std::vector<std::string>{};
        return tl::unexpected(entries.error());
    }
    std::vector<std::string> names;
    for (const auto& entry : *entries)
        if (entry.type == DT_DIR && is_id(entry.name)) names.push_back(entry.name);
    return names;
}

Result<Record> Cache::get(std::string_view name) const
{
    std::vector<Record> found;
    for (const auto& id : TRY(ids())) {
        if (!id.starts_with(name)) continue;
        if (auto record = TRY(find(id))) found.push_back(std::move(*record));
    }
    const auto shown = printable(name);
    if (found.empty() || name.empty()) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    fmt::format("there is no environment '{}'", shown),
                                    "'ponk environment list' lists the environments."));
    }
    if (found.size() > 1) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("'{}' matches {} environments", shown, found.size()),
                  fmt::format("Use more characters: '{}' or '{}'.", found[0].id, found[1].id)));
    }
    return std::move(found.front());
}

Result<Lock> Cache::lock_of(const std::string& id) const
{
    if (!is_id(id))
        return fail(ErrorKind::not_found, "'{}' is not an environment id", printable(id));
    const auto text = TRY(os::read_file(folder(id) / lock_file, record_limit));
    return parse_lock(text).map_error(while_doing("environment '{}'", id));
}

Result<std::vector<Entry>> Cache::list() const
{
    std::vector<Entry> entries;
    TRY(os::make_directories(root_ / ".locks"));
    for (const auto& id : TRY(ids())) {
        auto record = TRY(find(id));
        if (!record) continue;
        const auto used = modified(folder(id) / used_file);
        const auto free = TRY(os::FileLock::try_take(lock_path(id), os::FileLock::Kind::exclusive));
        entries.push_back({std::move(*record), used, !free.has_value()});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& left, const Entry& right) {
        return left.last_used > right.last_used;
    });
    return entries;
}

Result<os::FileLock> Cache::lock_for_use(const std::string& id, std::stop_token stop) const
{
    TRY(os::make_directories(root_ / ".locks"));
    return os::FileLock::take(
        lock_path(id), os::FileLock::Kind::shared, after(std::chrono::hours(24)), std::move(stop));
}

Result<std::optional<os::FileLock>> Cache::try_lock_for_use(const std::string& id) const
{
    TRY(os::make_directories(root_ / ".locks"));
    // Who lists environments has each for a moment.
    constexpr auto moment = std::chrono::milliseconds(50);
    auto lock = os::FileLock::take(lock_path(id), os::FileLock::Kind::shared, after(moment), {});
    if (lock) return std::move(*lock);
    if (lock.error().kind() == ErrorKind::timeout) return std::nullopt;
    return tl::unexpected(lock.error());
}

Result<os::FileLock> Cache::lock_for_change(const std::string& id,
                                            Deadline deadline,
                                            const std::function<void()>& waiting,
                                            std::stop_token stop) const
{
    TRY(os::make_directories(root_ / ".locks"));
    const auto path = lock_path(id);
    if (auto lock = TRY(os::FileLock::try_take(path, os::FileLock::Kind::exclusive)))
        return std::move(*lock);
    if (waiting) waiting();
    return os::FileLock::take(path, os::FileLock::Kind::exclusive, deadline, std::move(stop));
}

Result<Path> Cache::begin(const std::string& id) const
{
    const auto path = folder(id);
    TRY(os::remove_tree(path));
    TRY(os::make_directories(path));
    return path;
}

Result<> Cache::publish(const Record& record, const Lock& lock) const
{
    const auto path = folder(record.id);
    TRY(os::make_directories(path));
    TRY(os::replace_file(path / lock_file, to_text(lock)));
    TRY(os::replace_file(path / used_file, ""));
    return os::replace_file(path / record_file, to_json(to_json(record), JsonStyle::pretty) + "\n");
}

Result<> Cache::abandon(const std::string& id) const
{
    return os::remove_tree(folder(id));
}

Result<> Cache::note_use(const std::string& id) const
{
    const auto path = folder(id) / used_file;
    const auto file = TRY(os::open_file(path, O_WRONLY | O_CREAT));
    if (::futimens(file.get(), nullptr) != 0) return fail_errno(errno, "{}", os::in_quotes(path));
    return {};
}

Path Cache::project_path(const std::string& project, const std::string& target) const
{
    return root_ / ".projects" / sha256(project + '\n' + target).text();
}

std::optional<Json> Cache::last_spec(const std::string& project, const std::string& target) const
{
    const auto text = os::read_file_if_any(project_path(project, target), record_limit);
    if (!text || !*text) return std::nullopt;
    auto document = parse_json(**text);
    if (!document) return std::nullopt;
    return std::move(*document);
}

Result<>
Cache::note_spec(const std::string& project, const std::string& target, const Json& spec) const
{
    TRY(os::make_directories(root_ / ".projects"));
    return os::replace_file(
        project_path(project, target), ponk::to_json(spec) + "\n", 0600, os::Durable::no);
}

}  // namespace ponk::environment
