// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "base/text.hpp"
#include "engine/files/artifacts.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"
#include "snapshot/lease.hpp"
#include "snapshot/manifest.hpp"
#include "snapshot/materialise.hpp"
#include "snapshot/same_contents.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace ponk::engine {

namespace {

// What the platform put there, never the user's.
bool is_ours(std::string_view top)
{
    return top == ".git" || top == ".azureml" || top == "azureml-setup" || top == "azureml-logs";
}

class Returning {
public:
    Returning(int from, int to, const snapshot::Manifest& before, Overwrite overwrite, mode_t umask)
        : from_(from), to_(to), before_(before), overwrite_(overwrite), umask_(umask)
    {
    }

    Result<> folder(const Path& relative)
    {
        const auto source = TRY(os::open_beneath(
            from_, relative.empty() ? Path(".") : relative, O_RDONLY | O_DIRECTORY));
        for (const auto& entry : TRY(os::list_directory(source.get()))) {
            if (relative.empty() && is_ours(entry.name)) continue;
            const auto path = relative / entry.name;
            if (entry.type == DT_DIR) {
                TRY(go_on(path, folder(path)));
            } else if (entry.type == DT_REG) {
                TRY(go_on(path, file(path)));
            }
        }
        return {};
    }

    ReturnReport report;

private:
    // One path that cannot be copied is no reason to leave out the others, unless they would fare
    // no better: a full disk, which has a hint.
    Result<> go_on(const Path& path, const Result<>& done)
    {
        if (done) return {};
        if (done.error().kind() == ErrorKind::unavailable && !done.error().hint().empty())
            return tl::unexpected(done.error().within("return " + os::in_quotes(path)));
        report.failed.push_back({path.native(), done.error()});
        return {};
    }

    Result<> file(const Path& path)
    {
        const auto opened = os::open_beneath(from_, path, O_RDONLY);
        // What the run did not change is removed from its copy soon after its end.
        if (!opened && opened.error().kind() == ErrorKind::not_found) return {};
        if (!opened) return tl::unexpected(opened.error());
        const auto& source = *opened;
        if (TRY(unchanged(source.get(), path))) return {};
        TRY(make_parents(path));
        const auto parent = TRY(os::open_beneath(
            to_, path.has_parent_path() ? path.parent_path() : Path("."), O_RDONLY | O_DIRECTORY));
        const auto name = path.filename().native();
        struct stat info {};
        if (overwrite_ == Overwrite::no &&
            ::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
            report.skipped.push_back(path.native());
            return {};
        }
        ::fstat(source.get(), &info);
        // Under another name until it is whole: whoever is killed leaves no half of a file.
        const auto partial = name.substr(0, 200) + "." + to_hex(random_bytes(4)) + ".ponk-partial";
        const os::Fd target(::openat(parent.get(),
                                     partial.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                     0600));
        if (!target) return fail_errno(errno, "create it");
        const mode_t asked = (info.st_mode & S_IXUSR) != 0 ? 0777 : 0666;
        auto done = os::copy_contents(source.get(), target.get());
        if (done && ::fchmod(target.get(), asked & ~umask_) != 0)
            done = fail_errno(errno, "set its permissions");
        if (done) done = publish(parent.get(), partial, path);
        if (!done) ::unlinkat(parent.get(), partial.c_str(), 0);
        return done;
    }

    Result<> publish(int parent, const std::string& partial, const Path& path)
    {
        const auto name = path.filename().native();
        const unsigned flags = overwrite_ == Overwrite::yes ? 0 : RENAME_NOREPLACE;
        if (::renameat2(parent, partial.c_str(), parent, name.c_str(), flags) == 0) {
            report.copied.push_back(path.native());
            return {};
        }
        const int problem = errno;
        // A file system without that flag has `link`, which never replaces.
        if (problem == EINVAL && ::linkat(parent, partial.c_str(), parent, name.c_str(), 0) == 0) {
            ::unlinkat(parent, partial.c_str(), 0);
            report.copied.push_back(path.native());
            return {};
        }
        if (problem != EEXIST && errno != EEXIST) return fail_errno(problem, "rename it");
        ::unlinkat(parent, partial.c_str(), 0);
        report.skipped.push_back(path.native());
        return {};
    }

    // The snapshot had this file with these very bytes.
    Result<bool> unchanged(int source, const Path& path) const
    {
        const auto* entry = before_.find(path.native());
        if (entry == nullptr) return false;
        return snapshot::has_contents(source, *entry);
    }

    Result<> make_parents(const Path& path) const
    {
        Path parent;
        for (const auto& part : path.parent_path()) {
            const auto above = TRY(
                os::open_beneath(to_, parent.empty() ? Path(".") : parent, O_RDONLY | O_DIRECTORY));
            if (::mkdirat(above.get(), part.c_str(), 0777) == 0) {
                // With less than asked for it still is the user's folder.
                [[maybe_unused]] const int changed =
                    ::fchmodat(above.get(), part.c_str(), 0777 & ~umask_, 0);
            } else if (errno != EEXIST) {
                return fail_errno(errno, "create folder {}", os::in_quotes(parent / part));
            }
            parent /= part;
        }
        return {};
    }

    int from_;
    int to_;
    const snapshot::Manifest& before_;
    Overwrite overwrite_;
    mode_t umask_;
};

// Where the files of a run are to be had: its working copy, or a copy of the one on another machine
// or in a container that lives as long as this.
class Source {
public:
    static Result<Source> find(const Context& context, const model::Run& run)
    {
        const auto directory = context.run_directory(run.id);
        Source source;
        source.folder_ = directory.work();
        const auto lease = TRY(snapshot::Lease::take(context.objects.root(), "return", {}));
        const auto executor = context.executor(run.target_type);
        auto* const copies = executor ? (*executor)->working_copies() : nullptr;
        const auto handle = run.job.empty() ? run.id.text() : run.job;
        const auto fetched = copies != nullptr ? copies->fetch(handle, directory, {})
                                               : Result<std::optional<Digest>>(std::nullopt);
        std::error_code problem;
        if (fetched && !*fetched && std::filesystem::is_directory(source.folder_, problem))
            return source;
        const bool gone = fetched ? !*fetched : fetched.error().kind() == ErrorKind::not_found;
        if (gone) {
            return tl::unexpected(
                Error(ErrorKind::not_found,
                      "the working copy of run '" + run.id.text() + "' no longer exists",
                      "'ponk history download' gets its outputs, 'ponk project restore' the files "
                      "of its snapshot."));
        }
        if (!fetched) return tl::unexpected(fetched.error().within("copy the working copy"));
        source.folder_ = directory.root() / ("returned-" + to_hex(random_bytes(4)));
        source.ours_ = true;
        TRY(snapshot::materialise(context.objects, **fetched, source.folder_));
        return source;
    }
    ~Source()
    {
        if (ours_) static_cast<void>(os::remove_tree(folder_));
    }
    Source(Source&& other) noexcept
        : folder_(std::move(other.folder_)), ours_(std::exchange(other.ours_, false))
    {
    }
    Source& operator=(Source&&) = delete;

    [[nodiscard]] const Path& folder() const noexcept { return folder_; }

private:
    Source() = default;
    Path folder_;
    bool ours_ = false;
};

}  // namespace

Result<ReturnReport> return_files(const Context& context,
                                  const model::Run& run,
                                  const Path& destination,
                                  Overwrite overwrite,
                                  mode_t umask)
{
    const auto digest = TRY(snapshot_of(run));
    const auto source = TRY(Source::find(context, run));
    // A link that the script put in its place leads to files that are none of the run.
    const auto from = TRY(os::open_file(source.folder(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    TRY(os::make_directories(destination, 0777));
    const auto to = TRY(os::open_file(destination, O_RDONLY | O_DIRECTORY));
    const auto before = TRY(context.objects.read_manifest(digest));
    Returning returning(from.get(), to.get(), before, overwrite, umask);
    TRY(returning.folder({}));
    return std::move(returning.report);
}

}  // namespace ponk::engine
