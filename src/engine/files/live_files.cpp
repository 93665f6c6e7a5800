// SPDX-License-Identifier: Apache-2.0
#include "engine/files/live_files.hpp"

#include "executor/run_directory/control_directory.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ponk::engine {

using store::ArtifactPath;

namespace {

// From the run's folder on, so that no part of the way can be a link.
ArtifactPath below_outputs(const ArtifactPath& path)
{
    static const auto outputs =
        ArtifactPath::parse((executor::RunDirectory::work_part() / outputs_name).native()).value();
    return outputs / path;
}

}  // namespace

std::optional<LiveFiles> LiveFiles::of(const Context& context, const model::Run& run)
{
    const auto directory = context.run_directory(run.id);
    std::error_code problem;
    if (model::is_terminal(run.state) || !std::filesystem::exists(directory.work(), problem))
        return std::nullopt;
    auto secrets = RunSecrets::load(context, run);
    if (!secrets) return std::nullopt;
    return LiveFiles(directory.root(), std::move(*secrets));
}

bool LiveFiles::tells_secret(const std::string& text) const
{
    return secrets_.hide(text) != text;
}

LiveFiles::Found LiveFiles::find(const ArtifactPath& path) const
{
    if (tells_secret(path.text())) return {};
    auto found = folder_.find(below_outputs(path));
    return found ? std::move(*found) : Found();
}

std::optional<std::vector<LiveFiles::Entry>> LiveFiles::list(const ArtifactPath& path) const
{
    if (tells_secret(path.text())) return std::nullopt;
    auto listed = folder_.list(below_outputs(path));
    if (!listed || !*listed) return std::nullopt;
    std::erase_if(**listed, [this](const Entry& entry) {
        return !ArtifactPath::is_name(entry.name) || tells_secret(entry.name);
    });
    return std::move(*listed);
}

}  // namespace ponk::engine
