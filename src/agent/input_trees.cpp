// SPDX-License-Identifier: Apache-2.0
#include "agent/input_trees.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "os/directory.hpp"
#include "os/identity.hpp"
#include "os/tree.hpp"
#include "snapshot/object_format.hpp"
#include "snapshot/pieces.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::agent {

using snapshot::EntryKind;
using snapshot::Manifest;
using snapshot::ManifestEntry;
using snapshot::Piece;

namespace {

// Longer than an old connection can go on unnoticed (Server::silence_limit).
constexpr std::chrono::seconds lock_patience{120};

// Below the folder of a tree.
constexpr const char* manifest_file = "manifest";
constexpr const char* arrived_file = "arrived";  // boot id, LF, a byte per piece
constexpr const char* whole_file = "whole";      // newest change when it became so, in ns

std::string head_of_arrived()
{
    return os::boot_id() + "\n";
}

// The folder that has the entry, and its name there. No link is followed.
class Place {
public:
    Place(int root, const std::string& path)
    {
        const auto slash = path.rfind('/');
        const bool top = slash == std::string::npos;
        folder_.reset(os::open_folder_beneath(root, top ? "" : path.substr(0, slash)));
        name_ = top ? path : path.substr(slash + 1);
    }
    [[nodiscard]] int folder() const { return folder_.get(); }
    [[nodiscard]] const char* name() const { return name_.c_str(); }

private:
    os::Fd folder_{-1};
    std::string name_;
};

// Where that fails, writing says why.
void open_to_us(int folder, const char* name)
{
    [[maybe_unused]] const int changed = ::fchmodat(folder, name, 0600, 0);
}

tl::unexpected<Error> cannot_make(const ManifestEntry& entry)
{
    return fail_errno(errno, "make '{}'", printable(entry.path));
}

bool is_as(const os::FileStatus& status, const ManifestEntry& entry)
{
    if (entry.kind == EntryKind::folder) return status.is_folder();
    if (entry.kind == EntryKind::link) return status.is_link();
    return status.is_file();
}

// The newest change of an entry of the tree; nullopt when one is missing or of another kind.
std::optional<std::int64_t> newest_change(const Path& tree, const Manifest& manifest)
{
    const auto root = os::open_file(tree, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    os::FileStatus status;
    if (!root || os::status_of(root->get(), status) != 0) return std::nullopt;
    auto newest = status.ctime_ns;
    for (const auto& entry : manifest.entries()) {
        const Place place(root->get(), entry.path);
        if (place.folder() < 0 || os::status_at(place.folder(), place.name(), status) != 0 ||
            !is_as(status, entry) || (entry.is_file() && status.size != entry.size))
            return std::nullopt;
        newest = std::max(newest, status.ctime_ns);
    }
    return newest;
}

}  // namespace

InputTree::InputTree(const Path& home, const Digest& id)
    : home_(home), name_(id.text()), folder_(home / "inputs" / name_)
{
}

Result<os::FileLock> InputTree::lock(std::stop_token stop) const
{
    TRY(os::make_directories(home_ / "locks"));
    auto lock = os::FileLock::take(home_ / "locks" / ("input-" + name_),
                                   os::FileLock::Kind::exclusive,
                                   after(lock_patience),
                                   std::move(stop));
    if (!lock && lock.error().kind() == ErrorKind::timeout)
        return fail(ErrorKind::unreachable,
                    "an earlier connection is still busy with an input on that machine");
    return lock;
}

Result<std::optional<os::FileLock>> InputTree::try_lock() const
{
    TRY(os::make_directories(home_ / "locks"));
    return os::FileLock::try_take(home_ / "locks" / ("input-" + name_),
                                  os::FileLock::Kind::exclusive);
}

Result<std::shared_ptr<const InputList>> InputTree::find_list() const
{
    const auto text = TRY(os::read_file_if_any(folder_ / manifest_file));
    if (!text || sha256(*text).text() != name_) return std::shared_ptr<const InputList>();
    return std::make_shared<const InputList>(TRY(Manifest::parse(*text)));
}

Result<> InputTree::begin(const Manifest& manifest) const
{
    TRY(os::make_directories(folder_));
    return os::replace_file(folder_ / manifest_file, manifest.text());
}

bool InputTree::is_marked_whole() const
{
    return ::access((folder_ / whole_file).c_str(), F_OK) == 0;
}

bool InputTree::is_whole(const InputList& list) const
{
    const auto text = os::read_file(folder_ / whole_file, 4096);
    if (!text) return false;
    const auto newest = newest_change(tree(), list.manifest);
    return newest && std::to_string(*newest) == trim(*text);
}

// Makes the folders, and takes away what the manifest does not have.
Result<> InputTree::clear_up(const Manifest& manifest) const
{
    TRY(os::make_directories(tree()));
    const auto root = TRY(os::open_file(tree(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    const auto clear = [&](const std::string& path) -> Result<> {
        const os::Fd folder(os::open_folder_beneath(root.get(), path));
        if (folder.get() < 0) return fail_errno(-folder.get(), "open '{}'", printable(path));
        if (::fchmod(folder.get(), 0700) != 0)
            return fail_errno(errno, "change '{}'", printable(path));
        for (const auto& found : TRY(os::list_directory(folder.get()))) {
            const auto inside = path.empty() ? found.name : path + "/" + found.name;
            const auto* const entry = manifest.find(inside);
            os::FileStatus status;
            if (entry && os::status_at(folder.get(), found.name.c_str(), status) == 0 &&
                is_as(status, *entry)) {
                if (entry->is_file()) open_to_us(folder.get(), found.name.c_str());
                continue;
            }
            TRY(os::remove_tree(tree() / inside));
        }
        return {};
    };
    TRY(clear(""));
    for (const auto& entry : manifest.entries()) {
        if (entry.kind != EntryKind::folder) continue;
        const Place place(root.get(), entry.path);
        if (::mkdirat(place.folder(), place.name(), 0700) != 0 && errno != EEXIST)
            return cannot_make(entry);
        TRY(clear(entry.path));
    }
    return {};
}

Result<std::string> InputTree::arrived(const InputList& list, const std::stop_token& stop) const
{
    const auto head = head_of_arrived();
    const auto file = folder_ / arrived_file;
    const auto text = TRY(os::read_file_if_any(file));
    const bool was_whole = is_marked_whole();
    const auto length = head.size() + list.pieces.size();
    if (!was_whole && text && text->size() == length && text->starts_with(head))
        return text->substr(head.size());
    ::unlink((folder_ / whole_file).c_str());
    TRY(clear_up(list.manifest));
    const auto root = TRY(os::open_file(tree(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    std::string here(list.pieces.size(), '0');
    // Without a start there is nothing to look for.
    const bool begun = text || was_whole;
    for (std::size_t i = 0; begun && i < here.size(); ++i) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        if (snapshot::read_piece(root.get(), list.pieces[i])) here[i] = '1';
    }
    TRY(os::replace_file(file, head + here));
    return here;
}

Result<> InputTree::put(const InputList& list, const Parts& parts) const
{
    if (is_marked_whole()) return {};  // another connection was quicker
    const auto root = TRY(os::open_file(tree(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    const auto marks = TRY(os::open_file(folder_ / arrived_file, O_WRONLY));
    const auto head = head_of_arrived().size();
    std::string content;
    for (const auto& [index, bytes] : parts) {
        if (index >= list.pieces.size())
            return fail(ErrorKind::invalid_argument, "an input has no piece {}", index);
        const auto& piece = list.pieces[index];
        auto plain = bytes;
        if (snapshot::is_compressed(bytes)) {
            content.resize(piece.size);
            if (!snapshot::decode_object(bytes, content.data(), content.size()))
                return fail(ErrorKind::damaged,
                            "'{}' arrived with other bytes",
                            printable(piece.entry->path));
            plain = content;
        }
        TRY(snapshot::write_piece(root.get(), piece, plain));
        // After the bytes: it is believed until the next boot.
        if (::pwrite(marks.get(), "1", 1, static_cast<off_t>(head + index)) != 1)
            return fail_errno(errno, "note what arrived");
    }
    return {};
}

Result<> InputTree::finish(const InputList& list) const
{
    const auto& entries = list.manifest.entries();
    const auto root = TRY(os::open_file(tree(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    for (const auto& entry : entries) {
        const Place place(root.get(), entry.path);
        if (entry.kind == EntryKind::link &&
            ::symlinkat(entry.target.c_str(), place.folder(), place.name()) != 0 && errno != EEXIST)
            return cannot_make(entry);
        if (!entry.is_file()) continue;
        // Whoever was killed here before has closed some already.
        open_to_us(place.folder(), place.name());
        const os::Fd file(::openat(
            place.folder(), place.name(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        const mode_t mode = entry.kind == EntryKind::executable ? 0555 : 0444;
        if (!file || ::ftruncate(file.get(), static_cast<off_t>(entry.size)) != 0 ||
            ::fchmod(file.get(), mode) != 0)
            return cannot_make(entry);
    }
    // The deepest first: what is above must be open to us until then.
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        if (entry->kind != EntryKind::folder) continue;
        const Place place(root.get(), entry->path);
        if (::fchmodat(place.folder(), place.name(), 0555, 0) != 0) return cannot_make(*entry);
    }
    if (::fchmod(root.get(), 0555) != 0) return fail_errno(errno, "close the folder of an input");
    if (::syncfs(root.get()) != 0) return fail_errno(errno, "flush an input");
    const auto newest = newest_change(tree(), list.manifest);
    if (!newest) return fail(ErrorKind::conflict, "an input was changed while it arrived");
    TRY(os::replace_file(folder_ / whole_file, std::to_string(*newest) + "\n"));
    ::unlink((folder_ / arrived_file).c_str());
    return {};
}

void InputTree::touch() const
{
    ::utimensat(AT_FDCWD, (folder_ / whole_file).c_str(), nullptr, 0);
}

std::int64_t InputTree::used_ms() const
{
    std::int64_t newest = 0;
    for (const auto* const name : {manifest_file, arrived_file, whole_file}) {
        struct stat info {};
        if (::stat((folder_ / name).c_str(), &info) == 0)
            newest = std::max(newest, std::int64_t{info.st_mtim.tv_sec} * 1000);
    }
    return newest;
}

Result<> InputTree::remove() const
{
    ::unlink((folder_ / whole_file).c_str());  // first: half of it is never believed
    TRY(os::remove_tree(folder_));
    ::unlink((home_ / "locks" / ("input-" + name_)).c_str());
    return {};
}

std::vector<Digest> InputTree::all(const Path& home)
{
    std::vector<Digest> out;
    const auto entries = os::list_directory(home / "inputs");
    if (!entries) return out;
    for (const auto& entry : *entries) {
        Digest id;
        if (entry.type == DT_DIR && parse_digest(entry.name, id)) out.push_back(id);
    }
    return out;
}

}  // namespace ponk::agent
