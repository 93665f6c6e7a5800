// SPDX-License-Identifier: Apache-2.0
#include "engine/artifacts.hpp"

#include "base/text.hpp"
#include "snapshot/materialise.hpp"

#include <filesystem>
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

}  // namespace

bool is_log_artifact(std::string_view path)
{
    return path == "driver_log" || path == "driver_log.txt" || path == "log";
}

Result<std::vector<Artifact>> list_artifacts(const Context& context, const model::Run& run)
{
    std::vector<Artifact> artifacts;
    struct stat info {};
    if (::stat((context.run_directory(run.id) / "log").c_str(), &info) == 0)
        artifacts.push_back({"driver_log", static_cast<std::uint64_t>(info.st_size), ""});
    if (run.outputs.empty()) return artifacts;
    const auto manifest = TRY(outputs_manifest(context, run));
    for (const auto& entry : manifest.entries()) {
        if (!entry.is_file()) continue;
        // A file of several chunks has no digest of its own; its first ones name it for people.
        const auto digest = entry.chunks.empty() ? entry.digest.text() : std::string();
        artifacts.push_back({std::string(prefix) + entry.path, entry.size, digest});
    }
    return artifacts;
}

Result<Artifact>
find_artifact(const Context& context, const model::Run& run, const std::string& path)
{
    const auto artifacts = TRY(list_artifacts(context, run));
    std::vector<std::string> names;
    for (const auto& artifact : artifacts) {
        if (artifact.path == path || artifact.path == std::string(prefix) + path) return artifact;
        names.push_back(artifact.path);
    }
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

Result<RestoreReport>
restore_snapshot(const Context& context, const model::Run& run, const Path& destination)
{
    Digest digest;
    if (!parse_digest(run.snapshot, digest))
        return fail(ErrorKind::not_found, "run '{}' has no snapshot", run.id.text());
    if (!destination.is_absolute())
        return fail(ErrorKind::invalid_argument, "the destination must be an absolute path");
    snapshot::MaterialiseOptions options;
    options.heal_from = run.project_path;
    const auto report = TRY(snapshot::materialise(context.objects, digest, destination, options));
    return RestoreReport{report.files, report.bytes};
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
