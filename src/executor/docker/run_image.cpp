// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/run_image.hpp"

#include "base/text.hpp"
#include "executor/environments/managed_environment.hpp"

namespace ponk::executor::docker {

using dockerapi::Engine;

namespace {

EnvironmentRemark will_be_pulled(const std::string& name)
{
    return {"note",
            fmt::format("the image '{}' is not on the engine yet", printable(name)),
            "The run pulls it first."};
}

Error gone_since(const Job& job)
{
    return {ErrorKind::not_found,
            fmt::format("the image '{}', which was '{}' in the earlier run, is no longer on this "
                        "engine or in a registry",
                        printable(job.spec.runtime.container->pinned),
                        printable(job.spec.runtime.container->image)),
            "Submit the script again to use the current image of that name."};
}

}  // namespace

const std::string& wanted_image(const Job& job)
{
    return job.spec.runtime.container->pinned.empty() ? job.spec.runtime.container->image
                                                      : job.spec.runtime.container->pinned;
}

Result<std::optional<dockerapi::Login>> login_for(const Job& job, const std::stop_token& stop)
{
    const auto registry = dockerapi::registry_of(job.spec.runtime.container->image);
    if (!job.context.login.empty())
        return dockerapi::Login{.username = job.context.login.username,
                                .password = job.context.login.password,
                                .identity_token = job.context.login.token,
                                .server = registry};
    return dockerapi::find_login(registry, job.context.submitter_environment, stop);
}

Result<> provide_image(const Engine& engine,
                       const Job& job,
                       const Progress& progress,
                       const std::stop_token& stop)
{
    const auto& name = wanted_image(job);
    if (TRY(find_image(engine, name, after(patience), stop))) return {};
    const bool pinned = !job.spec.runtime.container->pinned.empty();
    if (pinned && name.find('@') == std::string::npos) return tl::unexpected(gone_since(job));
    progress(fmt::format("pulling the image '{}'", printable(name)));
    auto pulled = pull_image(engine, name, TRY(login_for(job, stop)), progress, stop);
    if (pulled || !pinned) return pulled;
    return pulled.map_error(while_doing("the image of the earlier run"));
}

Result<dockerapi::Image>
usable_image(const Engine& engine, const std::string& name, const std::stop_token& stop)
{
    auto image = TRY(find_image(engine, name, after(patience), stop));
    if (!image) {
        return tl::unexpected(Error(ErrorKind::not_found,
                                    fmt::format("image '{}' no longer exists", printable(name)),
                                    "Submit the run again: ponk then pulls the image again."));
    }
    if (!image->architecture.empty() && image->architecture != engine.version().architecture) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("image '{}' is for {}, but the engine's machine is {}",
                              printable(name),
                              printable(image->architecture),
                              printable(engine.version().architecture)),
                  "Set 'baseDockerImage' to an image for this processor."));
    }
    return std::move(*image);
}

Result<> describe_base(const Engine& engine,
                       const Job& job,
                       EnvironmentUsed& used,
                       const std::stop_token& stop)
{
    used.base_image = job.spec.runtime.container->image;
    const auto image = TRY(find_image(engine, wanted_image(job), after(patience), stop));
    if (!image) return {};  // the launch says so
    used.base_digest = image->digests.empty() ? image->id : image->digests.front();
    if (used.image.empty()) used.image = image->id;
    return {};
}

Result<> describe_packages_of_image(const Path& home,
                                    const Engine& engine,
                                    const Job& job,
                                    EnvironmentUsed& used,
                                    Notices& notices,
                                    const std::stop_token& stop)
{
    used.choice = job.spec.environment.choice;
    used.interpreter = job.spec.program.interpreter;
    if (used.image.empty()) return {};
    const auto installed =
        environment::installed_in_image(home, engine, used.image, used.interpreter, stop);
    if (!installed) {
        if (stop.stop_requested()) return tl::unexpected(installed.error());
        notices.push_back("the packages of the image cannot be recorded: " +
                          installed.error().message());
    } else if (*installed) {
        if (!(*installed)->program.empty()) used.interpreter = (*installed)->program;
        describe_packages(**installed, used);
    }
    return {};
}

Result<Examination> examine_image(const Engine& engine, const Job& job, const std::stop_token& stop)
{
    Examination out;
    out.image = wanted_image(job);
    if (!TRY(find_image(engine, out.image, after(patience), stop))) {
        out.reason = fmt::format("the image '{}' is not on the engine yet", printable(out.image));
        out.remarks.push_back(will_be_pulled(out.image));
        return out;
    }
    if (const auto usable = usable_image(engine, out.image, stop); !usable) {
        out.reason = usable.error().message();
        out.remarks.push_back({"error", usable.error().message(), usable.error().hint()});
        return out;
    }
    out.ready = true;
    out.reason = "its image is present, and nothing else is required";
    return out;
}

Result<Examination>
with_image(Examination found, const Engine& engine, const Job& job, const std::stop_token& stop)
{
    found.image = wanted_image(job);
    if (TRY(find_image(engine, found.image, after(patience), stop))) return found;
    // That is no obstacle: place brings it.
    std::erase_if(found.remarks, [](const auto& one) { return one.severity == "error"; });
    found.remarks.push_back(will_be_pulled(found.image));
    return found;
}

}  // namespace ponk::executor::docker
