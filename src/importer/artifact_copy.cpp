// SPDX-License-Identifier: Apache-2.0
#include "importer/artifact_copy.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"

#include <dirent.h>
#include <fcntl.h>

namespace ponk::importer {

namespace {

constexpr std::size_t block = std::size_t{1} << 20;
constexpr std::size_t blocks_at_a_time = 16;
constexpr std::size_t most_levels = 64;

std::string joined(const std::string& path, const std::string& name)
{
    return path.empty() ? name : path + "/" + name;
}

}  // namespace

ArtifactCopy::ArtifactCopy(const store::ArtifactFolder& into,
                           store::ArtifactPath at,
                           Files files,
                           Mode mode,
                           Report& report)
    : into_(into), at_(std::move(at)), files_(std::move(files)), mode_(mode), report_(report)
{
}

std::string ArtifactCopy::shown(const std::string& path) const
{
    return printable(joined(files_.shown, path));
}

void ArtifactCopy::leave_out(const std::string& path, std::string why)
{
    report_.leave_out(shown(path), std::move(why));
}

Result<bool> ArtifactCopy::step()
{
    if (!begun_) {
        begun_ = true;
        TRY(enter(std::move(files_.folder), {}));
        return true;
    }
    if (open_) {
        TRY(go_on());
        return true;
    }
    if (levels_.empty()) return false;
    auto& level = levels_.back();
    if (!level.files.empty()) {
        const auto name = std::move(level.files.back());
        level.files.pop_back();
        TRY(begin_file(level, name));
    } else if (!level.folders.empty()) {
        const auto name = std::move(level.folders.back());
        level.folders.pop_back();
        const auto path = joined(level.path, name);
        auto folder =
            os::open_beneath(level.folder.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (!folder) {
            leave_out(path, folder.error().message());
        } else {
            TRY(enter(std::move(*folder), path));
        }
    } else {
        levels_.pop_back();
    }
    return true;
}

Result<> ArtifactCopy::enter(os::Fd folder, std::string path)
{
    if (levels_.size() >= most_levels) {
        leave_out(path, "the folder is nested too deeply");
        return {};
    }
    Level level{std::move(folder), std::move(path), {}, {}};
    for (const auto& entry : TRY(os::list_directory(level.folder.get()))) {
        const auto inside = joined(level.path, entry.name);
        if (!store::ArtifactPath::is_name(entry.name)) {
            leave_out(inside, "this name is not allowed for artifacts");
        } else if (entry.type == DT_REG) {
            level.files.push_back(entry.name);
        } else if (entry.type == DT_DIR) {
            level.folders.push_back(entry.name);
        } else {
            leave_out(inside, entry.type == DT_LNK ? "it is a link" : "it is not a regular file");
        }
    }
    levels_.push_back(std::move(level));
    return {};
}

Result<bool>
ArtifactCopy::is_equal(int fd, std::uint64_t size, const store::ArtifactFolder::File& known) const
{
    if (size != known.size) return false;
    for (std::uint64_t at = 0; at < size; at += block) {
        if (TRY(os::read_at(fd, at, block)) != TRY(os::read_at(known.fd.get(), at, block)))
            return false;
    }
    return true;
}

Result<> ArtifactCopy::begin_file(const Level& level, const std::string& name)
{
    using Kind = store::ArtifactFolder::Found::Kind;
    const auto path = joined(level.path, name);
    auto fd = os::open_beneath(level.folder.get(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    os::FileStatus status;
    if (!fd || os::status_of(fd->get(), status) != 0 || !status.is_file()) {
        leave_out(path, fd ? "it is not a regular file" : fd.error().message());
        return {};
    }
    ++report_.files.found;
    if (mode_ == Mode::look) return {};
    const auto place = at_ / TRY(store::ArtifactPath::parse(path));
    const auto known = TRY(into_.find(place));
    if (known.kind == Kind::file && TRY(is_equal(fd->get(), status.size, known.file))) {
        ++report_.files.same;
        return {};
    }
    if (known.kind != Kind::absent) {
        ++report_.files.refused;
        report_.complain(shown(path),
                         fmt::format("a different '{}' already exists and is not overwritten",
                                     printable(place.text())));
        return {};
    }
    auto receiver = TRY(into_.receive(std::uint64_t{status.size}));
    open_.emplace(OpenFile{std::move(*fd), path, status.size, 0, std::move(receiver)});
    return {};
}

Result<> ArtifactCopy::go_on()
{
    for (std::size_t i = 0; i < blocks_at_a_time; ++i) {
        const auto bytes = TRY(os::read_at(open_->fd.get(), open_->at, block));
        if (bytes.empty()) {
            TRY(open_->upload.publish(at_ / TRY(store::ArtifactPath::parse(open_->path))));
            ++report_.files.added;
            report_.bytes += open_->at;
            open_.reset();
            return {};
        }
        TRY(open_->upload.write(bytes));
        open_->at += bytes.size();
    }
    return {};
}

}  // namespace ponk::importer
