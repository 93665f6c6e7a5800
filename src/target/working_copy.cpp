// SPDX-License-Identifier: Apache-2.0
#include "target/working_copy.hpp"

#include "os/directory.hpp"
#include "target/control_directory.hpp"

#include <sys/stat.h>

namespace ponk::target {

namespace {

constexpr const char* unfinished = "work.new";

}  // namespace

Result<Notices>
place_working_copy(const TreeStore& trees, const JobSpec& spec, std::stop_token stop)
{
    TRY(os::make_directories(spec.directory / control::journal));
    const auto tree = spec.directory / control::work;
    if (is_there(tree)) return Notices();
    // Under another name until it is whole: a half-made tree is never executed.
    const auto building = spec.directory / unfinished;
    TRY(os::remove_tree(building));
    auto notices = TRY(trees.materialise(spec, building, std::move(stop)));
    if (::rename(building.c_str(), tree.c_str()) != 0)
        return fail_errno(errno, "make {}", os::in_quotes(tree));
    return notices;
}

Result<Collected> collect_outputs(const TreeStore& trees,
                                  const Path& directory,
                                  const BeforeStoring& before,
                                  std::stop_token stop)
{
    const auto outputs = directory / control::work / "outputs";
    open_up(directory / control::work);
    open_up(outputs);
    struct stat info {};
    if (::lstat(outputs.c_str(), &info) != 0) return Collected();
    // A link could lead anywhere; only a real folder is ours to store.
    if (!S_ISDIR(info.st_mode)) {
        const auto* what = S_ISLNK(info.st_mode) ? "a link, which is not followed" : "no folder";
        return Collected{{}, {fmt::format("'outputs' is {}: nothing was collected", what)}};
    }
    if (TRY(os::list_directory(outputs)).empty()) return Collected();
    if (before) TRY(before(outputs));
    auto collected = TRY(trees.store(outputs, std::move(stop)));
    for (auto& notice : collected.notices)
        notice = "outputs: " + notice;
    return collected;
}

Result<> clean_run_directory(const SealedFiles& files, const Path& directory)
{
    if (!TRY(files.find(control::exit)) && is_locked(directory)) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("the run in {} is still alive", os::in_quotes(directory)),
                  "Cancel it first, or wait for its end."));
    }
    for (const auto* name : {control::work, unfinished, control::spec, control::lock, "times"})
        TRY(os::remove_tree(directory / name));
    return {};
}

}  // namespace ponk::target
