// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/working_copy.hpp"

#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "os/directory.hpp"

namespace ponk::executor {

namespace {

constexpr const char* unfinished = "work.new";

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
    if (::rename(building.c_str(), tree.c_str()) != 0)
        return fail_errno(errno, "make {}", os::in_quotes(tree));
    return notices;
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
