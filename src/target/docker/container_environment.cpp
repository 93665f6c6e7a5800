// SPDX-License-Identifier: Apache-2.0
#include "target/docker/container_environment.hpp"

#include "config/config_file.hpp"
#include "target/control_directory.hpp"

namespace ponk::target::docker {

Result<std::optional<environment::Prepared>>
container_environment(const Path& home,
                      const dockerapi::Engine& engine,
                      const std::optional<dockerapi::Login>& login,
                      const JobSpec& spec,
                      const Progress& progress,
                      std::stop_token stop)
{
    const auto& wish = spec.environment;
    if (wish.file.empty()) return std::nullopt;
    const auto tree = spec.directory / control::work;
    config::Report report(wish.file);
    const auto root = config::load_document(tree / wish.file, report);
    if (!root) return tl::unexpected(config::to_error(report.take()));
    environment::Request request{
        .project = wish.project,
        .target = wish.target,
        .conda = config::read_conda(*root, report),
        .root = tree,
        .file = wish.file,
        .image = environment::ImageWish{engine, spec.container.image, login, wish.network}};
    const auto settings = environment::settings_from(home, spec.ambient);
    if (wish.missing == EnvironmentWish::Missing::refuse) {
        const auto outlook = TRY(environment::check(settings, request, stop));
        if (!outlook.ready) {
            return tl::unexpected(
                Error(ErrorKind::not_found,
                      fmt::format("the environment of '{}' is not prepared for target '{}': {}",
                                  wish.file,
                                  wish.target,
                                  outlook.reason),
                      "Write 'PrepareEnvironment: true' into the run configuration."));
        }
    }
    return TRY(environment::prepare(settings, request, progress, std::move(stop)));
}

}  // namespace ponk::target::docker
