// SPDX-License-Identifier: Apache-2.0
#include "engine/files/project_files.hpp"

#include "base/text.hpp"
#include "engine/files/line_ends.hpp"
#include "engine/files/plain_file.hpp"
#include "engine/files/replacement.hpp"
#include "os/directory.hpp"
#include "os/unnamed_file.hpp"

#include <climits>

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::engine {

namespace {

constexpr std::size_t most_entries = 10'000;

std::int64_t milliseconds_of(const timespec& time)
{
    return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

Result<os::Fd> open_root(const Path& project)
{
    auto root = os::open_file(project, O_PATH | O_DIRECTORY);
    if (root) return root;
    return tl::unexpected(
        root.error()
            .within("project folder")
            .with_hint("If it has moved, 'ponk project relink' says where it is now."));
}

std::string link_text(int folder, const std::string& name)
{
    std::string text(PATH_MAX, '\0');
    const auto size = ::readlinkat(folder, name.c_str(), text.data(), text.size());
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
}

FolderEntry entry_of(int folder, std::string name)
{
    FolderEntry entry{.name = std::move(name)};
    struct stat info {};
    if (::fstatat(folder, entry.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return entry;
    entry.changed = milliseconds_of(info.st_mtim);
    if (S_ISREG(info.st_mode)) {
        entry.kind = FolderEntry::Kind::file;
        entry.size = static_cast<std::uint64_t>(info.st_size);
    } else if (S_ISDIR(info.st_mode)) {
        entry.kind = FolderEntry::Kind::folder;
    } else if (S_ISLNK(info.st_mode)) {
        entry.kind = FolderEntry::Kind::link;
        entry.leads_to = link_text(folder, entry.name);
    }
    return entry;
}

// The folder that a file is in, and its name there.
struct Place {
    os::Fd folder;
    std::string name;
};

Result<Place> place_of(const Path& project, const Path& path)
{
    auto name = path.filename().native();
    if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string::npos)
        return fail(
            ErrorKind::invalid_argument, "{} is not the name of a file", os::in_quotes(path));
    const bool is_gits = std::ranges::any_of(
        path, [](const Path& part) { return same_ignoring_case(part.native(), ".git"); });
    if (is_gits) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("{} belongs to git", os::in_quotes(path)),
                                    "Change it with git."));
    }
    const auto root = TRY(open_root(project));
    const auto parent = path.parent_path();
    auto folder =
        os::open_beneath(root.get(), parent.empty() ? Path(".") : parent, O_RDONLY | O_DIRECTORY);
    if (!folder && folder.error().kind() == ErrorKind::not_found) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    fmt::format("there is no folder {}", os::in_quotes(parent)),
                                    "Create it first."));
    }
    return Place{TRY(std::move(folder)), std::move(name)};
}

tl::unexpected<Error> changed_since(const Path& path, const char* how)
{
    return tl::unexpected(Error(ErrorKind::conflict,
                                fmt::format("{} {}", os::in_quotes(path), how),
                                "Nothing was written. Read it again, and decide which to keep."));
}

constexpr const char* other_text = "was changed since it was read";

Result<> flush(int fd, const Path& path)
{
    while (::fsync(fd) != 0) {
        if (errno != EINTR) return fail_errno(errno, "flush {}", os::in_quotes(path));
    }
    return {};
}

Result<> create(const Place& place, const Path& path, std::string_view text)
{
    auto file = TRY(os::UnnamedFile::create(place.folder.get(), 0644));
    TRY(os::write_all(file.fd(), text).map_error(while_doing("write {}", os::in_quotes(path))));
    TRY(file.sync());
    if (TRY(file.link_as(place.name)) == os::UnnamedFile::Outcome::already_there)
        return changed_since(path, "exists already");
    return flush(place.folder.get(), path);
}

Result<> require_writable(const struct stat& info, const os::Fd& file, const Path& path)
{
    const auto self = fmt::format("/proc/self/fd/{}", file.get());
    // The bits count for root, too: who took them away meant it.
    if ((info.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) != 0 &&
        ::faccessat(AT_FDCWD, self.c_str(), W_OK, AT_EACCESS) == 0)
        return {};
    return tl::unexpected(Error(ErrorKind::unavailable,
                                fmt::format("{} is write-protected", os::in_quotes(path)),
                                "'chmod u+w' allows you to change it."));
}

}  // namespace

const char* to_string(FolderEntry::Kind kind)
{
    switch (kind) {
    case FolderEntry::Kind::file:
        return "file";
    case FolderEntry::Kind::folder:
        return "folder";
    case FolderEntry::Kind::link:
        return "link";
    case FolderEntry::Kind::other:
        break;
    }
    return "other";
}

Result<FolderList> list_folder(const Path& project, const Path& path)
{
    const auto root = TRY(open_root(project));
    const auto folder =
        TRY(os::open_beneath(root.get(), path.empty() ? Path(".") : path, O_RDONLY | O_DIRECTORY));
    auto names = TRY(os::list_directory(folder.get()));
    FolderList list;
    list.left_out = names.size() - std::min(names.size(), most_entries);
    names.resize(names.size() - list.left_out);
    for (auto& each : names)
        list.entries.push_back(entry_of(folder.get(), std::move(each.name)));
    return list;
}

Result<OpenFile> open_project_file(const Path& project, const Path& path)
{
    const auto root = TRY(open_root(project));
    struct stat info {};
    const auto file = std::make_shared<os::Fd>(TRY(open_plain(root.get(), path, info)));
    OpenFile open;
    open.size = static_cast<std::uint64_t>(info.st_size);
    open.changed = milliseconds_of(info.st_mtim);
    open.read = [file](std::uint64_t offset, std::size_t length) {
        return os::read_at(file->get(), offset, length);
    };
    return open;
}

Result<StoredText> store_text(const Path& project, const Path& path, const FileText& text)
{
    const auto place = TRY(place_of(project, path));
    const auto check_size = [&](const std::string& bytes) -> Result<> {
        if (bytes.size() <= longest_text) return {};
        return fail(ErrorKind::invalid_argument,
                    "the text of {} is longer than {}",
                    os::in_quotes(path),
                    byte_size_text(longest_text));
    };
    if (!text.read) {
        TRY(check_size(text.text));
        TRY(create(place, path, text.text));
        return StoredText{sha256(text.text), text.text.size()};
    }
    struct stat info {};
    const auto file = open_plain(place.folder.get(), place.name, info);
    if (!file && file.error().kind() == ErrorKind::not_found)
        return changed_since(path, "is not there any more");
    if (!file) return tl::unexpected(file.error());
    const auto before = TRY(read_text(*file, path));
    if (sha256(before) != *text.read) return changed_since(path, other_text);
    TRY(require_writable(info, *file, path));
    const auto bytes = text.line_ends == FileText::LineEnds::as_before
                           ? with_line_ends_of(before, text.text)
                           : text.text;
    TRY(check_size(bytes));
    const StoredText stored{sha256(bytes), bytes.size()};
    if (bytes == before) return stored;
    auto replacement = TRY(Replacement::create(place.folder.get(), info));
    TRY(os::write_all(replacement.fd(), bytes)
            .map_error(while_doing("write {}", os::in_quotes(path))));
    TRY(flush(replacement.fd(), path));
    {
        // Our own writers take turns: what three of them exchange at once none could sort out.
        static std::mutex turn;
        const std::lock_guard lock(turn);
        if (!TRY(replacement.replace(place.name, *text.read, stored.digest)))
            return changed_since(path, other_text);
    }
    TRY(flush(place.folder.get(), path));
    return stored;
}

}  // namespace ponk::engine
