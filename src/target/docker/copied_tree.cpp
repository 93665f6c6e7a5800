// SPDX-License-Identifier: Apache-2.0
#include "target/docker/copied_tree.hpp"

#include "base/text.hpp"
#include "dockerapi/tar.hpp"
#include "os/directory.hpp"
#include "target/control_directory.hpp"
#include "target/docker/container_layout.hpp"
#include "target/run_folder.hpp"

#include <deque>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::target::docker {

namespace {

using dockerapi::TarEntry;
using dockerapi::TarReader;

constexpr std::size_t piece = 256 * 1024;
constexpr const char* unfinished_outputs = "outputs.new";
constexpr const char* unfinished_tree = "tree.new";

// The tree of a run as a tar stream, one entry after the other. Folders come before what they hold.
class TreeTar {
public:
    explicit TreeTar(Path root) : root_(std::move(root)) { waiting_.push_back(""); }

    // Appends the next bytes; nothing at the end.
    Result<> next(std::string& out)
    {
        while (out.size() < piece) {
            if (file_) {
                TRY(more_of_file(out));
            } else if (!waiting_.empty()) {
                const auto name = std::move(waiting_.front());
                waiting_.pop_front();
                TRY(begin(name, out));
            } else {
                if (!ended_) out += dockerapi::tar_end();
                ended_ = true;
                return {};
            }
        }
        return {};
    }

private:
    Result<> begin(const std::string& name, std::string& out)
    {
        const auto path = root_ / name;
        struct stat info {};
        if (::lstat(path.c_str(), &info) != 0)
            return fail_errno(errno, "read {}", os::in_quotes(path));
        TarEntry entry{.path = (Path(layout::tree).relative_path() / name).string(),
                       .mode = info.st_mode & 07777U,
                       .user = ::getuid(),
                       .group = ::getgid(),
                       .modified = info.st_mtime};
        if (S_ISDIR(info.st_mode)) {
            entry.kind = TarEntry::Kind::folder;
            for (const auto& child : TRY(os::list_directory(path)))
                waiting_.push_back((Path(name) / child.name).string());
        } else if (S_ISLNK(info.st_mode)) {
            entry.kind = TarEntry::Kind::link;
            entry.link = std::filesystem::read_symlink(path).string();
        } else if (S_ISREG(info.st_mode)) {
            entry.size = static_cast<std::uint64_t>(info.st_size);
            file_ = TRY(os::open_regular(path, os::Links::refuse));
            left_ = size_ = entry.size;
        } else {
            return {};
        }
        out += dockerapi::tar_header(entry);
        return {};
    }

    Result<> more_of_file(std::string& out)
    {
        const auto bytes =
            TRY(os::read_at(file_.get(), size_ - left_, std::min<std::uint64_t>(piece, left_)));
        if (bytes.empty() && left_ > 0)
            return fail(ErrorKind::damaged,
                        "a file of the run's tree became shorter while it was copied");
        out += bytes;
        left_ -= bytes.size();
        if (left_ > 0) return {};
        out += dockerapi::tar_padding(size_);
        file_.reset();
        return {};
    }

    Path root_;
    std::deque<std::string> waiting_;
    os::Fd file_;
    std::uint64_t left_ = 0;
    std::uint64_t size_ = 0;
    bool ended_ = false;
};

// Unpacks below one folder and nowhere else: the names come out of the container.
class Unpacker {
public:
    explicit Unpacker(os::Fd root) : root_(std::move(root)) {}

    Result<> begin(const TarEntry& entry)
    {
        file_.reset();
        const Path path = Path(entry.path).relative_path().lexically_normal();
        if (path.empty() || *path.begin() == "..")
            return fail(
                ErrorKind::damaged, "the archive names {} outside its folder", os::in_quotes(path));
        if (entry.kind == TarEntry::Kind::folder) return make_folder(path);
        if (entry.kind == TarEntry::Kind::other) return take_other(entry, path);
        const auto parent = TRY(os::open_beneath(root_.get(),
                                                 path.has_parent_path() ? path.parent_path() : ".",
                                                 O_RDONLY | O_DIRECTORY));
        const auto name = path.filename().string();
        if (entry.kind == TarEntry::Kind::link) {
            if (::symlinkat(entry.link.c_str(), parent.get(), name.c_str()) != 0 && errno != EEXIST)
                return fail_errno(errno, "make the link {}", os::in_quotes(path));
        } else if (entry.kind == TarEntry::Kind::file) {
            file_ = TRY(os::open_beneath(
                root_.get(), path, O_WRONLY | O_CREAT | O_EXCL, (entry.mode & 0777U) | 0600U));
        }
        return {};
    }

    Result<> data(std::string_view bytes)
    {
        return file_ ? os::write_all(file_.get(), bytes) : Result<>();
    }

    // "'outputs/x' is …": what could not be taken.
    [[nodiscard]] std::vector<std::string> left_out() && { return std::move(left_out_); }

private:
    // The archive has a file of several names once; the others are links to the first.
    Result<> take_other(const TarEntry& entry, const Path& path)
    {
        const Path first = Path(entry.link).relative_path().lexically_normal();
        if (!entry.link.empty() && !first.empty() && *first.begin() != "..") {
            const auto file = os::open_beneath(root_.get(), first, O_PATH | O_NOFOLLOW);
            const auto parent =
                TRY(os::open_beneath(root_.get(),
                                     path.has_parent_path() ? path.parent_path() : ".",
                                     O_RDONLY | O_DIRECTORY));
            if (file && ::linkat(AT_FDCWD,
                                 fmt::format("/proc/self/fd/{}", file->get()).c_str(),
                                 parent.get(),
                                 path.filename().c_str(),
                                 AT_SYMLINK_FOLLOW) == 0)
                return {};
        }
        if (left_out_.size() < most_told)
            left_out_.push_back(
                os::in_quotes(path) +
                " is no file, folder or link (a pipe or a device) and was left out");
        else if (left_out_.size() == most_told)
            left_out_.push_back("more of the outputs are no files, folders or links and were left "
                                "out");
        return {};
    }

    Result<> make_folder(const Path& path)
    {
        auto name = path.string();
        while (name.ends_with('/'))
            name.pop_back();
        const Path folder = name;
        const auto parent =
            TRY(os::open_beneath(root_.get(),
                                 folder.has_parent_path() ? folder.parent_path() : ".",
                                 O_RDONLY | O_DIRECTORY));
        if (::mkdirat(parent.get(), folder.filename().c_str(), 0700) != 0 && errno != EEXIST)
            return fail_errno(errno, "make the folder {}", os::in_quotes(folder));
        return {};
    }

    static constexpr std::size_t most_told = 100;

    os::Fd root_;
    os::Fd file_;
    std::vector<std::string> left_out_;
};

// `work/`, or a new one where the script put something else: the container has the run's tree, this
// was only what it was made from.
Result<RunFolder> work_folder(const Path& directory)
{
    auto work = RunFolder::open(directory, control::work);
    if (work ||
        (work.error().kind() != ErrorKind::conflict && work.error().kind() != ErrorKind::not_found))
        return work;
    TRY(os::remove_tree(directory / control::work));
    TRY(os::make_directories(directory / control::work));
    return RunFolder::open(directory, control::work);
}

// Unpacks what lies at `path` in the container into the new folder `name` of the run directory and
// says what was left out; nullopt when there is nothing.
Result<std::optional<std::vector<std::string>>> unpack_home(const dockerapi::Engine& engine,
                                                            const std::string& container,
                                                            const std::string& path,
                                                            const Path& directory,
                                                            const char* name,
                                                            std::stop_token stop)
{
    // A new folder: a repeated call begins anew.
    const auto building = directory / name;
    TRY(os::remove_tree(building));
    TRY(os::make_directories(building));
    const auto folder = TRY(RunFolder::open(directory, name));
    Unpacker unpacker(TRY(os::open_beneath(folder.fd(), ".", O_RDONLY | O_DIRECTORY)));
    TarReader reader(
        {.begin = [&unpacker](const TarEntry& entry) { return unpacker.begin(entry); },
         .data = [&unpacker](std::string_view bytes) { return unpacker.data(bytes); }});
    Result<> read;
    const auto copied = dockerapi::copy_out(
        engine,
        container,
        path,
        [&reader, &read](std::string_view bytes) {
            read = reader.take(bytes);
            return read.has_value();
        },
        std::move(stop));
    if (!read) return tl::unexpected(read.error());
    if (!copied && copied.error().kind() == ErrorKind::not_found) {
        TRY(os::remove_tree(building));
        return std::nullopt;
    }
    TRY(Result<>(copied));
    TRY(reader.finish());
    return std::move(unpacker).left_out();
}

}  // namespace

Result<> copy_tree_in(const dockerapi::Engine& engine,
                      const std::string& container,
                      const Path& directory,
                      std::stop_token stop)
{
    TreeTar tar(directory / control::work);
    return dockerapi::copy_in(
               engine,
               container,
               "/",
               [&tar](std::string& out) { return tar.next(out); },
               std::move(stop))
        .map_error(while_doing("copy the project into the container"));
}

Result<std::vector<std::string>> copy_outputs_home(const dockerapi::Engine& engine,
                                                   const std::string& container,
                                                   const Path& directory,
                                                   std::stop_token stop)
{
    auto there = TRY(unpack_home(engine,
                                 container,
                                 std::string(layout::tree) + "/outputs",
                                 directory,
                                 unfinished_outputs,
                                 std::move(stop))
                         .map_error(while_doing("copy outputs out of the container")));
    if (!there) return std::vector<std::string>();
    // Renamed when whole: a cut call leaves nothing.
    const auto folder = TRY(RunFolder::open(directory, unfinished_outputs));
    const auto work = TRY(work_folder(directory));
    TRY(os::remove_tree(work.path() / "outputs").map_error([&work](const Error& error) {
        return work.in_words(error);
    }));
    if (::renameat(folder.fd(), "outputs", work.fd(), "outputs") != 0)
        return fail_errno(
            errno, "put the outputs at {}", os::in_quotes(directory / control::work / "outputs"));
    TRY(os::remove_tree(directory / unfinished_outputs));
    return std::move(*there);
}

Result<Path> copy_tree_home(const dockerapi::Engine& engine,
                            const std::string& container,
                            const Path& directory,
                            std::stop_token stop)
{
    const auto there = TRY(
        unpack_home(engine, container, layout::tree, directory, unfinished_tree, std::move(stop))
            .map_error(while_doing("copy the tree out of the container")));
    if (!there) {
        return fail(ErrorKind::not_found, "the container of the run, which has its files, is gone");
    }
    return directory / unfinished_tree / Path(layout::tree).filename();
}

}  // namespace ponk::target::docker
