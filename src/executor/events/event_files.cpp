// SPDX-License-Identifier: Apache-2.0
#include "executor/events/event_files.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "model/event_file.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <iterator>
#include <set>

namespace ponk::executor {

namespace {

constexpr const char* outputs = "outputs";
// Where PyTorch, Lightning, Keras and their examples write by default.
constexpr const char* usual_folders[] = {"runs", "lightning_logs", "logs", "tb_logs"};
constexpr std::string_view name_begin = "events.out.tfevents.";
constexpr std::size_t most_names = 200'000;
constexpr int deepest = 16;
constexpr std::size_t longest_path = 1000;
constexpr std::uint64_t longest_note = std::uint64_t{4} << 20;

// The folder that was named, without what says nothing; empty: none.
std::string plain(const std::string& folder)
{
    if (!is_event_folder(folder)) return {};
    auto root = Path(folder).lexically_normal().native();
    while (root.ends_with('/'))
        root.pop_back();
    return root;
}

// One walk through a folder of the working copy.
class Search {
public:
    Search(std::vector<EventFile>& found, std::set<std::string>& known)
        : found_(found), known_(known)
    {
    }

    void look_below(const RunDirectory& directory, const std::string& root)
    {
        const auto folder = RunFolder::open(directory.root(), RunDirectory::work_part() / root);
        if (folder) look(folder->fd(), root, "", 0);
    }

private:
    void look(int folder, const std::string& path, const std::string& prefix, int depth)
    {
        os::NameList list;
        if (depth > deepest || path.size() > longest_path || list.read(folder) != 0) return;
        std::vector<std::string> folders;
        std::vector<std::string> files;
        for (const auto& name : list.names()) {
            if (++names_ > most_names) break;
            if (name.type == DT_DIR && name.text != "." && name.text != "..")
                folders.emplace_back(name.text);
            if (name.type == DT_REG && name.text.starts_with(name_begin))
                files.emplace_back(name.text);
        }
        std::sort(files.begin(), files.end());
        std::sort(folders.begin(), folders.end());
        for (const auto& name : files)
            add(folder, name, path, prefix);
        for (const auto& name : folders) {
            if (names_ > most_names || found_.size() >= most_event_files) return;
            const os::Fd below(
                ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
            if (!below) continue;
            look(below.get(),
                 path + "/" + name,
                 prefix.empty() ? name : prefix + "/" + name,
                 depth + 1);
        }
    }

    void
    add(int folder, const std::string& name, const std::string& path, const std::string& prefix)
    {
        os::FileStatus status;
        if (found_.size() >= most_event_files || os::status_at(folder, name.c_str(), status) != 0 ||
            !status.is_file())
            return;
        auto whole = path + "/" + name;
        if (!known_.insert(whole).second) return;
        found_.push_back({std::move(whole), prefix, status.size, status.inode});
    }

    std::vector<EventFile>& found_;
    std::set<std::string>& known_;
    std::size_t names_ = 0;
};

}  // namespace

bool is_event_folder(std::string_view folder)
{
    if (folder.empty() || folder.starts_with('/') || folder.find('\0') != std::string_view::npos ||
        folder.size() > longest_path)
        return false;
    for (const auto& part : Path(folder)) {
        if (part == "..") return false;
    }
    return true;
}

std::vector<EventFile> find_event_files(const RunDirectory& directory, const std::string& folder)
{
    std::vector<EventFile> found;
    std::set<std::string> known;
    // The one that was named first: what lies in both is named after that.
    if (const auto root = plain(folder); !root.empty())
        Search(found, known).look_below(directory, root);
    Search(found, known).look_below(directory, outputs);
    for (const auto* usual : usual_folders)
        Search(found, known).look_below(directory, usual);
    return found;
}

std::string_view usual_folder_of(std::string_view path, const std::string& folder)
{
    const auto is_below = [&](std::string_view root) {
        return path.starts_with(root) && path.substr(root.size()).starts_with('/');
    };
    if (const auto root = plain(folder); root == "." || (!root.empty() && is_below(root)))
        return {};
    const auto* const found =
        std::find_if(std::begin(usual_folders), std::end(usual_folders), is_below);
    return found == std::end(usual_folders) ? std::string_view() : *found;
}

Result<os::Fd> open_event_file(const RunDirectory& directory, const EventFile& file)
{
    const auto work = TRY(RunFolder::open(directory.root(), RunDirectory::work_part()));
    auto fd =
        TRY(os::open_beneath(work.fd(), file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    os::FileStatus status;
    if (os::status_of(fd.get(), status) != 0 || !status.is_file())
        return fail(ErrorKind::not_found, "{} is not a file", os::in_quotes(file.path));
    return fd;
}

std::optional<std::string> head_of_event_file(int fd, std::uint64_t size)
{
    if (size < model::event_head_size) return std::nullopt;
    const auto head = os::read_at(fd, 0, model::event_head_size);
    if (!head || head->size() < model::event_head_size) return std::nullopt;
    const auto record = model::event_record_size(*head);
    if (!record) return "damaged-" + to_hex(*head);
    if (size < *record) return std::nullopt;
    const auto tail = os::read_at(fd, *record - model::event_tail_size, model::event_tail_size);
    if (!tail || tail->size() < model::event_tail_size) return std::nullopt;
    return to_hex(*tail);
}

Result<> note_event_folders(const Job& job)
{
    const auto note = job.context.directory.task() / control::tensorboard;
    JsonArray before;
    for (const auto& file : find_event_files(job.context.directory, job.spec.program.tensorboard)) {
        const auto fd = open_event_file(job.context.directory, file);
        const auto head = fd ? head_of_event_file(fd->get(), file.size) : std::nullopt;
        if (head) before.emplace_back(JsonArray{file.path, *head});
    }
    if (before.empty() && job.spec.program.tensorboard.empty()) return os::remove_tree(note);
    return os::replace_file(note,
                            to_json(JsonObject{{"folder", job.spec.program.tensorboard},
                                               {"before", std::move(before)}}) +
                                "\n",
                            0600,
                            os::Durable::content);
}

EventFolders read_event_folders(const RunDirectory& directory)
{
    EventFolders out;
    const auto file = os::open_regular(directory.task() / control::tensorboard, os::Links::refuse);
    const auto text = file ? os::read_at(file->get(), 0, longest_note) : Result<std::string>();
    const auto json = text ? parse_json(*text) : Result<Json>();
    if (!json || !json->is_object()) return out;
    if (auto folder = json->text("folder"); is_event_folder(folder)) out.folder = std::move(folder);
    const auto& before = (*json)["before"];
    if (!before.is_array()) return out;
    for (const auto& item : before.as_array()) {
        if (item.is_array() && item.as_array().size() == 2 && item.as_array()[0].is_string() &&
            item.as_array()[1].is_string())
            out.before.emplace_back(item.as_array()[0].as_string(), item.as_array()[1].as_string());
    }
    return out;
}

}  // namespace ponk::executor
