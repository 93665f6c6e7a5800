// SPDX-License-Identifier: Apache-2.0
#include "engine/artifacts.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "snapshot/link_way.hpp"
#include "snapshot/materialise.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <stdio.h>
#include <sys/stat.h>
#include <system_error>

namespace ponk::engine {

namespace {

constexpr std::string_view prefix = "outputs/";

Result<snapshot::Manifest> outputs_manifest(const Context& context, const model::Run& run)
{
    Digest digest;
    if (!parse_digest(run.outputs, digest))
        return fail(ErrorKind::not_found, "run '{}' has no outputs", run.id.text());
    return context.objects.read_manifest(digest);
}

Result<Artifact> follow_link(const Context& context,
                             const model::Run& run,
                             const std::vector<Artifact>& artifacts,
                             const Artifact& from)
{
    if (from.link.empty()) return from;
    const auto way = snapshot::follow_links(from.path.substr(prefix.size()),
                                            TRY(outputs_manifest(context, run)));
    const auto found =
        std::find_if(artifacts.begin(), artifacts.end(), [&](const Artifact& artifact) {
            return artifact.link.empty() && way.end == snapshot::LinkWay::End::inside &&
                   artifact.path == std::string(prefix) + way.path;
        });
    if (found != artifacts.end()) return *found;
    return fail(ErrorKind::not_found,
                "'{}' is a link to '{}', which is no file among the outputs of the run",
                printable(from.path),
                printable(from.link));
}

}  // namespace

bool is_log_artifact(std::string_view path)
{
    return path == "driver_log" || path == "driver_log.txt" || path == "log";
}

ArtifactList list_artifacts(const Context& context, const model::Run& run)
{
    ArtifactList list;
    const auto log = context.log_of(run.id);
    struct stat info {};
    if (const auto file = os::open_regular(log.path, os::Links::refuse);
        file && ::fstat(file->get(), &info) == 0)
        list.artifacts.push_back({"driver_log", static_cast<std::uint64_t>(info.st_size), "", ""});
    if (auto damage = find_log_damage(log, run, LogDepth::known, *context.log_digests);
        damage && *damage)
        list.problems.push_back(std::move(**damage));
    if (run.outputs.empty()) return list;
    const auto manifest = outputs_manifest(context, run);
    if (!manifest) {
        list.problems.push_back(
            manifest.error()
                .within("the list of the run's outputs")
                .with_hint("While its working copy is there, 'ponk experiment return " +
                           run.id.brief() + "' copies the outputs from it."));
        return list;
    }
    for (const auto& entry : manifest->entries()) {
        const auto path = std::string(prefix) + entry.path;
        if (entry.is_file()) {
            // A file of several chunks has no digest of its own.
            const auto digest = entry.chunks.empty() ? entry.digest.text() : std::string();
            list.artifacts.push_back({path, entry.size, digest, ""});
        } else if (entry.kind == snapshot::EntryKind::link) {
            const bool inside = snapshot::follow_links(entry.path, *manifest).end !=
                                snapshot::LinkWay::End::outside;
            (inside ? list.artifacts : list.left_out).push_back({path, 0, "", entry.target});
        }
    }
    return list;
}

Result<Artifact>
find_artifact(const Context& context, const model::Run& run, const std::string& path)
{
    const auto list = list_artifacts(context, run);
    std::vector<std::string> names;
    for (const auto& artifact : list.artifacts) {
        if (artifact.path == path || artifact.path == std::string(prefix) + path)
            return follow_link(context, run, list.artifacts, artifact);
        names.push_back(artifact.path);
    }
    if (!list.problems.empty()) return tl::unexpected(list.problems.front());
    const auto close = nearest(path, names);
    return tl::unexpected(
        Error(ErrorKind::not_found,
              "run '" + run.id.text() + "' has no artifact '" + printable(path) + "'",
              close ? "Did you mean '" + *close + "'?"
                    : "'ponk history info -r " + run.id.brief() + "' lists what there is."));
}

Result<std::string> read_artifact(const Context& context,
                                  const model::Run& run,
                                  const std::string& path,
                                  std::uint64_t offset,
                                  std::size_t length)
{
    const auto manifest = TRY(outputs_manifest(context, run));
    const auto inside =
        std::string_view(path).starts_with(prefix) ? path.substr(prefix.size()) : path;
    return snapshot::read_file(context.objects, manifest, inside, offset, length);
}

Result<RestoreReport> restore_snapshot(const Context& context,
                                       const model::Run& run,
                                       const Path& destination,
                                       mode_t umask)
{
    Digest digest;
    if (!parse_digest(run.snapshot, digest))
        return fail(ErrorKind::not_found, "run '{}' has no snapshot", run.id.text());
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
    std::uint64_t freed = 0;
    std::error_code problem;
    const auto work = context.run_directory(run.id) / "work";
    for (std::filesystem::recursive_directory_iterator at(work, problem), end;
         at != end && !problem;
         at.increment(problem)) {
        struct stat info {};
        if (::lstat(at->path().c_str(), &info) == 0)
            freed += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    auto* executor = TRY(context.executor(run.target_type));
    TRY(executor->clean(run.job.empty() ? run.id.text() : run.job, context.run_directory(run.id)));
    return freed;
}

}  // namespace ponk::engine
