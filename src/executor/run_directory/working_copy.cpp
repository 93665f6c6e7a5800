// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/working_copy.hpp"

#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

constexpr const char* unfinished = "work.new";
constexpr const char* staged = "staged";

// The folder that holds `path`, made where it is missing. No link of the tree is followed: it may
// lead out of it.
Result<> make_parents(const Path& tree, const Path& path)
{
    auto here = tree;
    for (const auto& part : path.parent_path()) {
        here /= part;
        struct stat info {};
        if (::lstat(here.c_str(), &info) != 0) {
            if (errno != ENOENT || ::mkdir(here.c_str(), 0755) != 0)
                return fail_errno(errno, "make the place of input {}", os::in_quotes(path));
        } else if (!S_ISDIR(info.st_mode)) {
            return tl::unexpected(
                Error(ErrorKind::conflict,
                      fmt::format("input {} has no place: {} is not a folder in the project",
                                  os::in_quotes(path),
                                  os::in_quotes(here.lexically_relative(tree))),
                      "Choose another place: '--input PLACE=PATH'."));
        }
    }
    return {};
}

// Scripts of 2017 write there without a look.
Result<> make_outputs(const Path& tree)
{
    struct stat info {};
    if (::lstat((tree / "outputs").c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    "the project's 'outputs' is not a folder, and a line of "
                                    ".amlignore lets it travel",
                                    "Remove that line: runs write their results there."));
    }
    return os::make_directories(tree / "outputs", 0755);
}

// A script that starts in a folder of the project writes to 'outputs' there: the same folder,
// unless the project has one of its own in that place.
Result<> link_outputs(const Path& tree, const std::string& folder)
{
    if (folder.empty()) return {};
    TRY(os::make_directories(tree / folder, 0755));
    const auto there = Path("outputs").lexically_relative(Path(folder));
    if (::symlink(there.c_str(), (tree / folder / "outputs").c_str()) == 0 || errno == EEXIST)
        return {};
    return fail_errno(errno, "link {}", os::in_quotes(tree / folder / "outputs"));
}

// An input takes the place of what the snapshot has there: a link for a process, for a container
// what it is mounted on.
Result<> place_inputs(const Job& job, const Path& tree)
{
    for (const auto& input : job.spec.inputs) {
        const auto place = tree / input.path;
        // What was allowed is this folder, not one that a link in its place names since.
        std::error_code unreal;
        if (std::filesystem::canonical(input.source, unreal) != Path(input.source) || unreal) {
            return tl::unexpected(
                Error(ErrorKind::conflict,
                      fmt::format("input {} is not there any more, or leads elsewhere: {}",
                                  os::in_quotes(input.path),
                                  os::in_quotes(input.source)),
                      "Submit the run again."));
        }
        TRY(make_parents(tree, input.path));
        TRY(os::remove_tree(place));
        std::error_code problem;
        const auto& container = job.spec.runtime.container;
        // What is mounted cannot be copied to; the engine makes the place.
        if (container && container->tree == model::Container::Tree::copied) continue;
        if (!container) {
            std::filesystem::create_symlink(input.source, place, problem);
            if (problem)
                return fail_errno(problem.value(), "link input {}", os::in_quotes(input.path));
        } else if (std::filesystem::is_directory(input.source, problem)) {
            TRY(os::make_directories(place, 0755));
        } else {
            TRY(os::replace_file(place, "", 0644, os::Durable::no));
        }
    }
    return {};
}

}  // namespace

Result<Notices> stage_working_copy(const TreeStore& trees, const Job& job, std::stop_token stop)
{
    TRY(os::make_directories(job.context.directory.task() / control::journal));
    const auto tree = job.context.directory.work();
    if (is_there(tree)) return Notices();
    // Under another name until it is whole: a half-made tree is never executed.
    const auto building = job.context.directory.root() / unfinished;
    TRY(os::remove_tree(building));
    auto notices = TRY(trees.materialise(job, building, std::move(stop)));
    TRY(place_inputs(job, building));
    TRY(make_outputs(building));
    TRY(link_outputs(building, job.spec.program.folder));
    if (::rename(building.c_str(), tree.c_str()) != 0)
        return fail_errno(errno, "make {}", os::in_quotes(tree));
    // Its time tells later what the script changed. Outside of what a container sees.
    TRY(os::replace_file(job.context.directory.root() / staged, "", 0600, os::Durable::no));
    return notices;
}

std::optional<std::int64_t> staged_time(const RunDirectory& directory)
{
    const auto folder = os::open_file(directory.root(), O_RDONLY | O_DIRECTORY);
    os::FileStatus status;
    if (!folder || os::status_at(folder->get(), staged, status) != 0) return std::nullopt;
    return status.mtime_ns;
}

void note_trimmed(const RunDirectory& directory)
{
    const auto folder = os::open_file(directory.root(), O_RDONLY | O_DIRECTORY);
    if (folder) ::unlinkat(folder->get(), staged, 0);
}

Result<Collected> collect_outputs(const TreeStore& trees,
                                  const RunDirectory& directory,
                                  const BeforeStoring& before,
                                  std::stop_token stop)
{
    const auto outputs = RunFolder::open(directory.root(), RunDirectory::work_part() / "outputs");
    if (!outputs && outputs.error().kind() == ErrorKind::not_found) return Collected();
    if (!outputs && outputs.error().kind() == ErrorKind::conflict)
        return Collected{{}, {outputs.error().message() + ": nothing was collected"}};
    if (!outputs) return tl::unexpected(outputs.error());
    if (TRY(os::list_directory(outputs->fd())).empty()) return Collected();
    const auto in_words = [&outputs](const Error& error) { return outputs->in_words(error); };
    if (before) TRY(before(outputs->path()).map_error(in_words));
    auto collected = TRY(trees.store(outputs->path(), std::move(stop)).map_error(in_words));
    for (auto& notice : collected.notices)
        notice = "outputs: " + notice;
    return collected;
}

bool has_outputs(const RunDirectory& directory)
{
    std::error_code problem;
    const auto outputs = directory.outputs();
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(outputs, problem)))
        return true;  // which is reported
    return is_there(outputs) && (!std::filesystem::is_empty(outputs, problem) || problem);
}

Result<> clean_run_directory(const SealedFiles& files, const RunDirectory& directory)
{
    if (!TRY(files.find(control::exit)) && is_locked(directory.task())) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("the run in {} is still alive", os::in_quotes(directory.root())),
                  "Cancel it first, or wait for its end."));
    }
    TRY(os::remove_tree(directory.work()));
    TRY(os::remove_tree(directory.root() / unfinished));
    TRY(os::remove_tree(directory.root() / staged));
    for (const auto* name : {control::spec,
                             control::lock,
                             control::environment,
                             control::relay,
                             control::tensorboard,
                             "times"})
        TRY(os::remove_tree(directory.task() / name));
    return {};
}

}  // namespace ponk::executor
