// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/leftovers.hpp"

#include "base/text.hpp"
#include "os/tree.hpp"
#include "snapshot/same_contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

// The kernel's clock for file times ticks every 10 ms at the slowest.
constexpr std::int64_t tick_ns = 30'000'000;
constexpr std::size_t names_in_summary = 3;

bool is_cache(std::string_view name)
{
    constexpr std::string_view caches[] = {
        "__pycache__", ".ipynb_checkpoints", ".pytest_cache", ".mypy_cache", ".ruff_cache"};
    return std::find(std::begin(caches), std::end(caches), name) != std::end(caches);
}

class Search {
public:
    Search(const snapshot::Manifest& before,
           const std::vector<std::string>& inputs,
           std::int64_t staged_ns)
        : before_(before), inputs_(inputs), staged_ns_(staged_ns)
    {
    }

    Result<Leftovers> run(const Path& work)
    {
        const auto root = TRY(os::open_file(work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
        std::vector<Waiting> waiting{{"", false}};
        os::NameList list;
        while (!waiting.empty()) {
            const auto next = std::move(waiting.back());
            waiting.pop_back();
            const os::Fd fd(os::open_folder_beneath(root.get(), next.path));
            // What the script made unreadable is still its own.
            if (fd.get() < 0 || list.read(fd.get()) != 0) continue;
            if (!next.path.empty()) found_.folders.push_back(next.path);
            for (const auto& name : list.names()) {
                auto path = (next.path.empty() ? "" : next.path + "/") + std::string(name.text);
                if (path == "outputs" || is_input(path)) continue;
                if (name.type == DT_DIR) {
                    waiting.push_back({std::move(path), next.cache || is_cache(name.text)});
                } else {
                    TRY(look_at(fd.get(), std::string(name.text), std::move(path), next.cache));
                }
            }
        }
        std::sort(found_.kept.begin(), found_.kept.end(), [](const auto& left, const auto& right) {
            return left.path < right.path;
        });
        std::reverse(found_.folders.begin(), found_.folders.end());
        return std::move(found_);
    }

private:
    struct Waiting {
        std::string path;
        bool cache;
    };

    [[nodiscard]] bool is_input(const std::string& path) const
    {
        return std::find(inputs_.begin(), inputs_.end(), path) != inputs_.end();
    }

    Result<> look_at(int folder, const std::string& name, std::string path, bool cache)
    {
        os::FileStatus status;
        if (os::status_at(folder, name.c_str(), status) != 0) return {};
        const auto* const entry = before_.find(path);
        if (cache || (entry != nullptr && TRY(is_same(folder, name, status, *entry)))) {
            found_.removable.push_back(std::move(path));
        } else if (status.is_file()) {
            found_.kept.push_back({std::move(path), status.size});
        }
        return {};
    }

    Result<bool> is_same(int folder,
                         const std::string& name,
                         const os::FileStatus& status,
                         const snapshot::ManifestEntry& entry) const
    {
        if (entry.kind == snapshot::EntryKind::link) {
            std::string target(entry.target.size() + 1, '\0');
            const auto length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
            return length == static_cast<ssize_t>(entry.target.size()) &&
                   target.starts_with(entry.target);
        }
        if (!status.is_file() || !entry.is_file() || status.size != entry.size) return false;
        if (status.ctime_ns < staged_ns_ - tick_ns) return true;
        const os::Fd file(
            ::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
        if (file.get() < 0) return false;
        return snapshot::has_contents(file.get(), entry);
    }

    const snapshot::Manifest& before_;
    const std::vector<std::string>& inputs_;
    std::int64_t staged_ns_;
    Leftovers found_;
};

}  // namespace

std::uint64_t bytes_of(const std::vector<LeftFile>& files)
{
    std::uint64_t bytes = 0;
    for (const auto& file : files)
        bytes += file.bytes;
    return bytes;
}

std::string summary_of(const std::vector<LeftFile>& files)
{
    if (files.empty()) return "";
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(files.size(), names_in_summary); ++i)
        names.push_back(printable(files[i].path));
    if (files.size() > names_in_summary) names.emplace_back("…");
    return fmt::format("{} file{} outside of outputs/ ({}; {})",
                       files.size(),
                       files.size() == 1 ? "" : "s",
                       join(names, ", "),
                       byte_size_text(bytes_of(files)));
}

Result<Leftovers> find_leftovers(const Path& work,
                                 const snapshot::Manifest& before,
                                 const std::vector<std::string>& inputs,
                                 std::int64_t staged_ns)
{
    return Search(before, inputs, staged_ns).run(work);
}

void remove_unchanged(const Path& work, const Leftovers& leftovers)
{
    const auto root = os::open_file(work, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!root) return;
    const auto remove = [&root](const std::string& path, int flags) {
        const auto slash = path.rfind('/');
        const auto folder = slash == path.npos ? "" : path.substr(0, slash);
        const os::Fd parent(os::open_folder_beneath(root->get(), folder));
        if (parent.get() < 0) return;
        ::unlinkat(parent.get(), path.c_str() + (slash == path.npos ? 0 : slash + 1), flags);
    };
    for (const auto& path : leftovers.removable)
        remove(path, 0);
    for (const auto& path : leftovers.folders)
        remove(path, AT_REMOVEDIR);
}

}  // namespace ponk::executor
