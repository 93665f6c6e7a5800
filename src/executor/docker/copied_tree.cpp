// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/copied_tree.hpp"

#include "base/take.hpp"
#include "base/text.hpp"
#include "dockerapi/tar.hpp"
#include "executor/docker/container_layout.hpp"
#include "executor/docker/unpacker.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "os/directory.hpp"

#include <deque>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor::docker {

namespace {

using dockerapi::TarEntry;
using dockerapi::TarReader;

constexpr std::size_t piece = 256 * 1024;
constexpr const char* unfinished_outputs = "outputs.new";
constexpr const char* copied_tree = "tree-";
constexpr std::chrono::seconds look_patience{20};

struct Owner {
    uid_t user;
    gid_t group;
};

// "1000:100", as describe_container writes it.
Result<Owner> owner_of(const dockerapi::ContainerSpec& container)
{
    const auto ids = split(container.user, ':');
    const auto user = parse_integer(ids.front());
    const auto group = parse_integer(ids.back());
    if (ids.size() != 2 || !user || !group)
        return fail(ErrorKind::internal, "container '{}' runs as an unknown user", container.name);
    return Owner{static_cast<uid_t>(*user), static_cast<gid_t>(*group)};
}

// The tree of a run as a tar stream, one entry after the other. Folders come before what they hold.
class TreeTar {
public:
    TreeTar(Path root, Owner owner) : root_(std::move(root)), owner_(owner)
    {
        waiting_.push_back("");
    }

    // Appends the next bytes; nothing at the end.
    Result<> next(std::string& out)
    {
        while (out.size() < piece) {
            if (file_) {
                TRY(more_of_file(out));
            } else if (!waiting_.empty()) {
                TRY(begin(take_front(waiting_), out));
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
                       .user = owner_.user,
                       .group = owner_.group,
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
            return fail(ErrorKind::damaged, "a file of the run was truncated while it was copied");
        out += bytes;
        left_ -= bytes.size();
        if (left_ > 0) return {};
        out += dockerapi::tar_padding(size_);
        file_.reset();
        return {};
    }

    Path root_;
    Owner owner_;
    std::deque<std::string> waiting_;
    os::Fd file_;
    std::uint64_t left_ = 0;
    std::uint64_t size_ = 0;
    bool ended_ = false;
};

// `work/`, or a new one where the script put something else: the container has the run's tree, this
// was only what it was made from.
Result<RunFolder> work_folder(const RunDirectory& directory)
{
    auto work = RunFolder::open(directory.root(), RunDirectory::work_part());
    if (work ||
        (work.error().kind() != ErrorKind::conflict && work.error().kind() != ErrorKind::not_found))
        return work;
    TRY(os::remove_tree(directory.work()));
    TRY(os::make_directories(directory.work()));
    return RunFolder::open(directory.root(), RunDirectory::work_part());
}

// Unpacks what lies at `path` in the container into the folder; false when there is nothing.
Result<bool> unpack(const dockerapi::Engine& engine,
                    const std::string& container,
                    const std::string& path,
                    Unpacker& unpacker,
                    std::stop_token stop)
{
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
    if (!copied && copied.error().kind() == ErrorKind::not_found) return false;
    TRY(Result<>(copied));
    TRY(reader.finish());
    return true;
}

Result<Unpacker> unpacker_for(const RunDirectory& directory, const Path& name)
{
    const auto folder = TRY(RunFolder::open(directory.root(), name));
    return Unpacker(TRY(os::open_beneath(folder.fd(), ".", O_RDONLY | O_DIRECTORY)));
}

// What the run put below `outputs/`, as the archive would name it. An engine that cannot say, or
// says too much, keeps nobody from the outputs.
std::vector<std::string> paths_of_outputs(const dockerapi::Engine& engine,
                                          const std::string& container,
                                          const std::stop_token& stop)
{
    const auto tree = std::string(layout::tree) + "/";
    std::vector<std::string> out;
    const auto changed = changed_paths(engine, container, after(look_patience), stop);
    if (!changed) return out;
    for (const auto& path : *changed) {
        if (path.starts_with(tree + "outputs/")) out.push_back(path.substr(tree.size()));
    }
    return out;
}

}  // namespace

Result<> copy_tree_in(const dockerapi::Engine& engine,
                      const dockerapi::ContainerSpec& container,
                      const RunDirectory& directory,
                      std::stop_token stop)
{
    TreeTar tar(directory.work(), TRY(owner_of(container)));
    return dockerapi::copy_in(
               engine,
               container.name,
               "/",
               [&tar](std::string& out) { return tar.next(out); },
               std::move(stop))
        .map_error(while_doing("copy the project into the container"));
}

Result<std::vector<std::string>> copy_outputs_home(const dockerapi::Engine& engine,
                                                   const std::string& container,
                                                   const RunDirectory& directory,
                                                   std::stop_token stop)
{
    // A new folder: a repeated call begins again.
    const auto building = directory.root() / unfinished_outputs;
    TRY(os::remove_tree(building));
    TRY(os::make_directories(building));
    auto unpacker = TRY(unpacker_for(directory, unfinished_outputs));
    const bool there =
        TRY(unpack(engine, container, std::string(layout::tree) + "/outputs", unpacker, stop)
                .map_error(while_doing("copy outputs out of the container")));
    if (!there) {
        TRY(os::remove_tree(building));
        return std::vector<std::string>();
    }
    auto left_out = unpacker.left_out(paths_of_outputs(engine, container, stop));
    // Renamed when whole: a cut call leaves nothing.
    const auto folder = TRY(RunFolder::open(directory.root(), unfinished_outputs));
    const auto work = TRY(work_folder(directory));
    TRY(os::remove_tree(work.path() / "outputs").map_error([&work](const Error& error) {
        return work.in_words(error);
    }));
    if (::renameat(folder.fd(), "outputs", work.fd(), "outputs") != 0)
        return fail_errno(errno, "put the outputs at {}", os::in_quotes(directory.outputs()));
    TRY(os::remove_tree(building));
    return left_out;
}

CopiedTree::~CopiedTree()
{
    if (!folder_.empty()) static_cast<void>(os::remove_tree(folder_));
}

Path CopiedTree::root() const
{
    return folder_ / Path(layout::tree).filename();
}

Result<CopiedTree> copy_tree_home(const dockerapi::Engine& engine,
                                  const std::string& container,
                                  const RunDirectory& directory,
                                  std::stop_token stop)
{
    // Of its own name: two who ask for the files at one time are not in each other's way.
    CopiedTree tree(TRY(os::make_temporary_directory(directory.root(), copied_tree)));
    auto unpacker = TRY(unpacker_for(directory, tree.root().parent_path().filename()));
    const bool there = TRY(unpack(engine, container, layout::tree, unpacker, std::move(stop))
                               .map_error(while_doing("copy the tree out of the container")));
    if (!there)
        return fail(ErrorKind::not_found,
                    "the run's container, which has its files, no longer exists");
    return tree;
}

Result<> remove_unfinished_copies(const RunDirectory& directory)
{
    TRY(os::remove_tree(directory.root() / unfinished_outputs));
    const auto entries = os::list_directory(directory.root());
    if (!entries) return {};
    for (const auto& entry : *entries) {
        if (entry.name.starts_with(copied_tree))
            TRY(os::remove_tree(directory.root() / entry.name));
    }
    return {};
}

}  // namespace ponk::executor::docker
