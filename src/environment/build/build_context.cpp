// SPDX-License-Identifier: Apache-2.0
#include "environment/build/build_context.hpp"

#include "dockerapi/tar.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"

#include <dirent.h>
#include <sys/stat.h>

namespace ponk::environment {

namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

}  // namespace

void BuildContextFiles::add_text(std::string name, std::string bytes)
{
    items_.push_back({Item::Kind::text, std::move(name), std::move(bytes), {}, 0644});
}

void BuildContextFiles::add_file(std::string name, Path file)
{
    items_.push_back({Item::Kind::file, std::move(name), {}, std::move(file), 0644});
}

Result<> BuildContextFiles::add_tree(const std::string& name, const Path& folder)
{
    items_.push_back({Item::Kind::folder, name, {}, folder, 0755});
    for (const auto& entry : TRY(os::list_directory(folder))) {
        const auto path = folder / entry.name;
        const auto below = name + "/" + entry.name;
        struct stat info {};
        if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "{}", os::in_quotes(path));
        if (S_ISDIR(info.st_mode)) {
            TRY(add_tree(below, path));
        } else if (S_ISLNK(info.st_mode)) {
            std::error_code problem;
            const auto target = std::filesystem::read_symlink(path, problem);
            if (!problem) items_.push_back({Item::Kind::link, below, target.string(), {}, 0777});
        } else if (S_ISREG(info.st_mode)) {
            const mode_t mode = (info.st_mode & 0100U) != 0 ? 0755 : 0644;
            items_.push_back({Item::Kind::file, below, {}, path, mode});
        }
    }
    return {};
}

std::function<Result<>(std::string& out)> BuildContextFiles::source() const
{
    struct State {
        std::size_t item = 0;
        os::Fd file;
        std::uint64_t size = 0;
        std::uint64_t offset = 0;
        bool ended = false;
    };
    auto state = std::make_shared<State>();
    return [this, state](std::string& out) -> Result<> {
        const auto before = out.size();
        while (out.size() - before < piece) {
            if (state->file) {
                const auto left = state->size - state->offset;
                const auto bytes = TRY(os::read_at(
                    state->file.get(), state->offset, std::min<std::uint64_t>(left, piece)));
                if (bytes.empty() && left > 0)
                    return fail(ErrorKind::conflict,
                                "{} was truncated while it was sent",
                                os::in_quotes(items_[state->item].file));
                out += bytes;
                state->offset += bytes.size();
                if (state->offset < state->size) continue;
                out += dockerapi::tar_padding(state->size);
                state->file.reset();
                ++state->item;
                continue;
            }
            if (state->item >= items_.size()) {
                if (!state->ended) out += dockerapi::tar_end();
                state->ended = true;
                return {};
            }
            const auto& item = items_[state->item];
            using Kind = dockerapi::TarEntry::Kind;
            dockerapi::TarEntry entry{.path = item.name, .mode = item.mode};
            if (item.kind == Item::Kind::file) {
                state->file = TRY(os::open_regular(item.file));
                os::FileStatus status;
                if (const int problem = os::status_of(state->file.get(), status); problem != 0)
                    return fail_errno(problem, "{}", os::in_quotes(item.file));
                state->size = entry.size = status.size;
                state->offset = 0;
                out += dockerapi::tar_header(entry);
                continue;
            }
            if (item.kind == Item::Kind::text) {
                out += dockerapi::tar_file(item.name, item.text, item.mode);
            } else {
                entry.kind = item.kind == Item::Kind::link ? Kind::link : Kind::folder;
                entry.link = item.kind == Item::Kind::link ? item.text : std::string();
                out += dockerapi::tar_header(entry);
            }
            ++state->item;
        }
        return {};
    };
}

}  // namespace ponk::environment
