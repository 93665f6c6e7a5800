// SPDX-License-Identifier: Apache-2.0
#include "engine/files/artifacts.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "os/disk_use.hpp"
#include "snapshot/link_way.hpp"
#include "snapshot/materialise.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <stdio.h>
#include <sys/stat.h>
#include <system_error>

namespace ponk::engine {

namespace {

constexpr std::string_view prefix = "outputs/";

// What clients logged hides what was collected under the same name, above it and below it.
class Logged {
public:
    explicit Logged(const std::vector<std::pair<std::string, std::uint64_t>>& files)
    {
        for (const auto& [path, size] : files)
            paths_.insert(path);
    }
    [[nodiscard]] bool hides(const std::string& path) const
    {
        if (paths_.empty()) return false;
        if (paths_.contains(path)) return true;
        const auto below = paths_.lower_bound(path + "/");
        if (below != paths_.end() && below->starts_with(path + "/")) return true;
        for (auto slash = path.find('/'); slash != std::string::npos;
             slash = path.find('/', slash + 1)) {
            if (paths_.contains(path.substr(0, slash))) return true;
        }
        return false;
    }

private:
    std::set<std::string> paths_;
};

void add_log(const Context& context,
             const model::Run& run,
             const Logged& logged,
             ArtifactList& list)
{
    const auto log = context.log_of(run.id);
    struct stat info {};
    if (const auto file = os::open_regular(log.path, os::Links::refuse);
        file && ::fstat(file->get(), &info) == 0 && !logged.hides(std::string(log_name)))
        list.artifacts.push_back({std::string(log_name),
                                  static_cast<std::uint64_t>(info.st_size),
                                  "",
                                  "",
                                  Artifact::Origin::log});
    if (auto damage = find_log_damage(log, run, LogDepth::known, *context.log_digests);
        damage && *damage)
        list.problems.push_back(std::move(**damage));
}

void add_outputs(const snapshot::Manifest& outputs, const Logged& logged, ArtifactList& list)
{
    for (const auto& entry : outputs.entries()) {
        const auto path = std::string(prefix) + entry.path;
        if (logged.hides(path)) continue;
        if (entry.is_file()) {
            // A file of several chunks has no digest of its own.
            const auto digest = entry.chunks.empty() ? entry.digest.text() : std::string();
            list.artifacts.push_back({path, entry.size, digest, ""});
        } else if (entry.kind == snapshot::EntryKind::link) {
            const bool inside =
                snapshot::follow_links(entry.path, outputs).end != snapshot::LinkWay::End::outside;
            (inside ? list.artifacts : list.left_out).push_back({path, 0, "", entry.target});
        }
    }
}

Result<Artifact> follow_link(const Context& context, const model::Run& run, const Artifact& from)
{
    if (from.link.empty()) return from;
    const auto files = TRY(RunFiles::of(context, run));
    if (const auto* entry = files.find_output(from.path.substr(prefix.size()))) {
        const auto digest = entry->chunks.empty() ? entry->digest.text() : std::string();
        return Artifact{std::string(prefix) + entry->path, entry->size, digest, ""};
    }
    return fail(ErrorKind::not_found,
                "'{}' is a link to '{}', which is not a file in the run's outputs",
                printable(from.path),
                printable(from.link));
}

}  // namespace

bool is_log_artifact(std::string_view path)
{
    return path == log_name || path == "driver_log.txt" || path == "log";
}

ArtifactList list_artifacts(const Context& context, const model::Run& run)
{
    ArtifactList list;
    const auto files = RunFiles::of(context, run);
    if (!files) {
        list.problems.push_back(files.error());
        return list;
    }
    auto logged = files->logged();
    if (!logged) {
        list.problems.push_back(logged.error().within("what clients logged for the run"));
        logged.emplace();
    }
    const Logged hidden(*logged);
    add_log(context, run, hidden, list);
    for (auto& [path, size] : *logged)
        list.artifacts.push_back({std::move(path), size, "", "", Artifact::Origin::client});
    if (files->problem()) {
        list.problems.push_back(files->problem()->with_hint(
            "While the run's working copy exists, 'ponk experiment return " + run.id.brief() +
            "' copies the outputs from it."));
    }
    if (files->outputs()) add_outputs(*files->outputs(), hidden, list);
    return list;
}

Result<Artifact>
find_artifact(const Context& context, const model::Run& run, const std::string& path)
{
    const auto list = list_artifacts(context, run);
    std::vector<std::string> names;
    for (const auto& wanted : {path, std::string(prefix) + path}) {
        for (const auto& artifact : list.artifacts) {
            if (artifact.path == wanted) return follow_link(context, run, artifact);
            names.push_back(artifact.path);
        }
    }
    if (!list.problems.empty()) return tl::unexpected(list.problems.front());
    const auto close = nearest(path, names);
    return tl::unexpected(
        Error(ErrorKind::not_found,
              "run '" + run.id.text() + "' has no artifact '" + printable(path) + "'",
              close ? "Did you mean '" + *close + "'?"
                    : "'ponk history info -r " + run.id.brief() + "' lists the artifacts."));
}

Result<OpenFile>
open_artifact(const Context& context, const model::Run& run, const std::string& path)
{
    const auto files = TRY(RunFiles::of(context, run));
    // Most are asked for by their whole name, for which nobody needs the list.
    if (const auto exact = store::ArtifactPath::parse(path)) {
        if (auto file = files.open_listed(*exact)) return file;
    }
    const auto artifact = TRY(find_artifact(context, run, path));
    if (artifact.origin == Artifact::Origin::client)
        return files.open_listed(TRY(store::ArtifactPath::parse(artifact.path)));
    const auto* entry = artifact.origin == Artifact::Origin::outputs
                            ? files.find_output(artifact.path.substr(prefix.size()))
                            : nullptr;
    if (entry) return files.open_output(*entry);
    return fail(ErrorKind::not_found,
                "'{}' is not a readable file of run '{}'",
                printable(artifact.path),
                run.id.text());
}

Result<Digest> snapshot_of(const model::Run& run)
{
    Digest digest;
    if (parse_digest(run.snapshot, digest)) return digest;
    if (run.imported != 0) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("run '{}' was imported without its snapshot", run.id.text()),
                  fmt::format("The snapshot is on machine '{}'. 'ponk history info -r {}' shows "
                              "what the run logged.",
                              printable(run.host),
                              run.id.brief())));
    }
    return fail(ErrorKind::not_found,
                "run '{}' has no snapshot: it ended before the snapshot was taken",
                run.id.text());
}

Result<> require_made_here(const model::Run& run)
{
    if (run.imported == 0) return {};
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("run '{}' was imported: its command and its folders are those of machine "
                          "'{}'",
                          run.id.text(),
                          printable(run.host)),
              fmt::format("If its snapshot is here, 'ponk project restore -d FOLDER -r {}' writes "
                          "its files; submit the script from there.",
                          run.id.brief())));
}

Result<RestoreReport> restore_snapshot(const Context& context,
                                       const model::Run& run,
                                       const Path& destination,
                                       mode_t umask)
{
    const auto digest = TRY(snapshot_of(run));
    if (!destination.is_absolute())
        return fail(ErrorKind::invalid_argument, "the destination must be an absolute path");
    snapshot::MaterialiseOptions options;
    options.heal_from = run.project_path;
    options.umask = umask;
    const auto materialise = [&](const Path& folder) {
        return snapshot::materialise(context.objects, digest, folder, options);
    };
    struct stat info {};
    const auto make = [&]() -> Result<snapshot::MaterialiseReport> {
        if (::lstat(destination.c_str(), &info) == 0) return materialise(destination);
        // Under another name until it is whole: whoever is killed leaves no half of a project.
        TRY(os::make_directories(destination.parent_path(), 0777));
        Path building = destination;
        building += "." + to_hex(random_bytes(4)) + ".ponk-partial";
        auto report = TRY(materialise(building));
        if (::renameat2(
                AT_FDCWD, building.c_str(), AT_FDCWD, destination.c_str(), RENAME_NOREPLACE) == 0)
            return report;
        const int problem = errno;
        static_cast<void>(os::remove_tree(building));
        return fail_errno(problem, "make {}", os::in_quotes(destination));
    };
    auto report = TRY(make());
    return RestoreReport{report.files, report.bytes, std::move(report.healed)};
}

Result<std::uint64_t> clean_run(const Context& context, const model::Run& run)
{
    if (!model::is_terminal(run.state))
        return fail(ErrorKind::conflict, "run '{}' has not ended", run.id.text());
    const auto freed = os::disk_use(context.run_directory(run.id).work()).bytes;
    auto* executor = TRY(context.executor(run.target_type));
    TRY(executor->clean(run.job.empty() ? run.id.text() : run.job, context.run_directory(run.id)));
    // Their loss needs no warning any more.
    if (run.evidence["left"].integer("files") > 0) {
        store::RunChange change;
        change.evidence = run.evidence;
        change.evidence->as_object().set("left", JsonObject{{"files", 0}, {"bytes", 0}});
        TRY(context.history.update_run(run.id, change));
    }
    return freed;
}

}  // namespace ponk::engine
