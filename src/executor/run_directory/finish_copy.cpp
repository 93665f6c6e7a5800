// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/finish_copy.hpp"

#include "base/text.hpp"
#include "config/ignore/ignore_rules.hpp"
#include "executor/run_directory/run_folder.hpp"

namespace ponk::executor {

Result<std::optional<FinishedCopy>>
finish_copy(const TreeStore& trees, const EndedRun& run, std::stop_token stop)
{
    const auto staged = staged_time(run.directory);
    if (!staged) return std::optional<FinishedCopy>();
    const auto work = RunFolder::open(run.directory.root(), RunDirectory::work_part());
    if (!work) return std::optional<FinishedCopy>();
    FinishedCopy done;
    done.leftovers = TRY(find_leftovers(run.directory.work(), run.snapshot, run.inputs, *staged));
    const auto patterns = config::IgnoreRules::parse(join(run.keep, "\n"));
    std::vector<LeftFile> left;
    std::set<std::string, std::less<>> wanted;
    for (const auto& file : done.leftovers.kept) {
        if (patterns.ignores(file.path, false)) {
            wanted.insert(file.path);
            done.rest.kept_bytes += static_cast<std::int64_t>(file.bytes);
        } else {
            left.push_back(file);
        }
    }
    done.rest.left = summary_of(left);
    done.rest.left_files = static_cast<std::int64_t>(left.size());
    done.rest.left_bytes = static_cast<std::int64_t>(bytes_of(left));
    done.rest.kept_files = static_cast<std::int64_t>(wanted.size());
    if (wanted.empty()) return done;
    auto stored =
        TRY(trees.store_some(work->path(), wanted, std::move(stop))
                .map_error([&work](const Error& error) { return work->in_words(error); }));
    done.rest.kept = stored.outputs;
    done.rest.notices = std::move(stored.notices);
    return done;
}

}  // namespace ponk::executor
