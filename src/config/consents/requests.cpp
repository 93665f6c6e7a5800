// SPDX-License-Identifier: Apache-2.0
#include "config/consents/consents.hpp"
#include "config/files/docker_arguments.hpp"
#include "config/project/project.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::config {
namespace {

constexpr std::string_view secret_prefix = "secret:";

std::string at(const std::string& file, Place place)
{
    return place.line == 0 ? file : fmt::format("{}:{}", file, place.line);
}

void add(std::vector<Request>& requests, Request request)
{
    const auto is_it = [&](const Request& other) {
        return other.kind == request.kind && other.what == request.what;
    };
    if (std::ranges::none_of(requests, is_it)) requests.push_back(std::move(request));
}

void add_secret(std::vector<Request>& requests, const std::string& value, std::string where)
{
    if (value.starts_with(secret_prefix))
        add(requests, {ConsentKind::secret, value.substr(secret_prefix.size()), std::move(where)});
}

}  // namespace

Result<std::vector<Request>> docker_requests(const std::vector<std::string>& arguments)
{
    std::vector<Request> requests;
    for (const auto& argument : TRY(parse_docker_arguments(arguments)))
        if (reaches_host(argument))
            add(requests, {ConsentKind::docker_argument, argument.text(), {}});
    return requests;
}

Result<std::vector<Request>> requests_of(const ResolvedConfiguration& resolved)
{
    const auto& run = resolved.run;
    const auto& target = resolved.target;
    std::vector<Request> requests;
    for (const auto& variable : run.environment_variables)
        add_secret(requests,
                   variable.value,
                   at(variable.file.empty() ? run.file : variable.file, variable.place));
    const bool contained = uses_docker(*target.type);
    if (run.docker && contained) {
        const auto& docker = *run.docker;
        add_secret(
            requests, *docker.registry_password, at(run.file, docker.registry_password.place));
        std::vector<std::string> words;
        for (const auto& word : docker.arguments)
            words.push_back(*word);
        const auto place = docker.arguments.empty() ? Place{} : docker.arguments.front().place;
        for (auto& request : TRY(docker_requests(words))) {
            request.where = at(run.file, place);
            add(requests, std::move(request));
        }
    }
    if (contained) {
        for (const auto& mount : target.mounts)
            add(requests,
                {ConsentKind::docker_argument,
                 DockerArgument{"--volume", *mount}.text(),
                 at(target.file, mount.place)});
    }
    if (contained && resolved.mlproject) {
        for (const auto& volume : resolved.mlproject->docker_volumes)
            add(requests,
                {ConsentKind::docker_argument,
                 DockerArgument{"--volume", *volume}.text(),
                 at(resolved.mlproject->file, volume.place)});
    }
    // A build's steps are in that network, too.
    const DockerArgument network{"--network", *target.build_network};
    if (contained && !network.value.empty() && reaches_host(network))
        add(requests,
            {ConsentKind::docker_argument,
             network.text(),
             at(target.file, target.build_network.place)});
    // Files of 2017 name the usual folder as well.
    static const ComputeTarget usual;
    const auto plain = [](const std::string& folder) { return (os::Path(folder) / "").string(); };
    if (target.native_shared_directory.given() &&
        plain(*target.native_shared_directory) != plain(*usual.native_shared_directory))
        add(requests,
            {ConsentKind::folder,
             *target.native_shared_directory,
             at(target.file, target.native_shared_directory.place)});
    return requests;
}

}  // namespace ponk::config
