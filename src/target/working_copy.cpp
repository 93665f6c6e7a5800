// SPDX-License-Identifier: Apache-2.0
#include "target/working_copy.hpp"

#include "os/directory.hpp"
#include "target/control_directory.hpp"

#include <sys/stat.h>

namespace ponk::target {

namespace {

constexpr const char* unfinished = "work.new";

bool is_there(const Path& path)
{
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0;
}

}  // namespace

Result<> place_working_copy(const TreeStore& trees,
                            const JobSpec& spec,
                            const Progress& progress,
                            std::stop_token stop)
{
    TRY(os::make_directories(spec.directory / control::journal));
    const auto tree = spec.directory / control::work;
    if (is_there(tree)) return {};
    // Under another name until it is whole: a half-made tree is never executed.
    const auto building = spec.directory / unfinished;
    TRY(os::remove_tree(building));
    TRY(trees.materialise(spec.snapshot, building, progress, std::move(stop)));
    if (::rename(building.c_str(), tree.c_str()) != 0)
        return fail_errno(errno, "make {}", os::in_quotes(tree));
    return {};
}

Result<std::optional<Digest>>
collect_outputs(const TreeStore& trees, const Path& directory, std::stop_token stop)
{
    const auto outputs = directory / control::work / "outputs";
    struct stat info {};
    // A link could lead anywhere; only a real folder is ours to store.
    if (::lstat(outputs.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
    if (TRY(os::list_directory(outputs)).empty()) return std::nullopt;
    return std::optional(TRY(trees.store(outputs, std::move(stop))));
}

Result<> clean_run_directory(const Path& directory)
{
    if (!is_there(directory / control::exit) && is_locked(directory)) {
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
