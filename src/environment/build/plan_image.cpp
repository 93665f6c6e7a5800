// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "dockerapi/image.hpp"
#include "environment/build/build_image.hpp"
#include "environment/build/build_prefix.hpp"
#include "environment/build/preparation.hpp"
#include "environment/spec/image_names.hpp"
#include "environment/spec/python_version.hpp"

#include <algorithm>

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;

// The same image has the same identity on every engine, as far as its registry gave it one.
std::string identity_of(const dockerapi::Image& image)
{
    if (image.digests.empty()) return image.id;
    const auto& digest = image.digests.front();
    return digest.substr(digest.find('@') + 1);
}

Result<dockerapi::Image>
provide_base(const ImageRequest& request, const Progress& progress, const std::stop_token& stop)
{
    if (request.base.empty() || request.base.find_first_of(" \t\r\n") != std::string::npos) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("'{}' is not an image name", printable(request.base)),
                  "Set 'baseDockerImage' in the .compute file."));
    }
    auto image = TRY(find_image(request.engine, request.base, after(patience), stop));
    if (!image && !progress) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("the image '{}' is not on the engine yet", printable(request.base)),
                  "The build pulls it."));
    }
    if (!image) {
        progress(fmt::format("pulling the image '{}'", printable(request.base)));
        TRY(pull_image(request.engine, request.base, request.login, progress, stop));
        image = TRY(find_image(request.engine, request.base, after(patience), stop));
    }
    if (!image) return fail(ErrorKind::not_found, "image '{}' was removed again", request.base);
    const auto& machine = request.engine.version().architecture;
    if (!image->architecture.empty() && image->architecture != machine) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("image '{}' is for {}, but the engine's machine is {}",
                              printable(request.base),
                              printable(image->architecture),
                              printable(machine)),
                  "Set 'baseDockerImage' to an image for this processor."));
    }
    return std::move(*image);
}

// The environment's image, when the engine has it and it is that.
Result<std::optional<dockerapi::Image>>
find_built(const dockerapi::Engine& engine, const std::string& key, const std::stop_token& stop)
{
    auto image = TRY(find_image(engine, image_tag(key), after(patience), stop));
    if (!image || image->label(environment_label) != key) return std::nullopt;
    return image;
}

Record record_of(const dockerapi::Image& image,
                 const dockerapi::Image& base,
                 const std::string& engine_id,
                 const ImageRequest& request)
{
    Record record;
    record.image = image.id;
    record.engine = engine_id;
    record.socket = request.engine.socket().native();
    record.base_image = request.base;
    record.builder = image.label(builder_label);
    record.prefix = image_prefix;
    record.interpreter = fmt::format("{}/bin/python", image_prefix);
    record.size = std::max<std::int64_t>(image.size - base.size, 0);
    return record;
}

std::optional<Python> find_carrier(const Settings& settings, const std::stop_token& stop)
{
    const auto carries = [](const Python& python) {
        return python.has_venv && compare_releases(python.version, "3.10") >= 0;
    };
    auto found = find_pythons({}, {}, carries, settings, stop);
    if (found.empty() || !carries(found.back())) return std::nullopt;
    return std::move(found.back());
}

Result<> check_engine_space(const ImageFacts& facts, std::uint64_t needed)
{
    if (facts.free_space == 0 || facts.free_space >= needed) return {};
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("only {} are free on the engine's disk, but this environment may need {}",
                          byte_size_text(facts.free_space),
                          byte_size_text(needed)),
              "Remove unused images (see 'docker system df' and 'ponk environment list'); "
              "PONK_ENV_FREE_SPACE sets the limit in bytes."));
}

// "3.6" of "=3.6.2".
std::string series_of(const std::string& constraint)
{
    const auto digit = constraint.find_first_of("0123456789");
    if (digit == std::string::npos) return {};
    const auto parts = split(std::string_view(constraint).substr(digit), '.');
    if (parts.size() < 2) return {};
    return parts[0] + "." + parts[1].substr(0, parts[1].find_first_not_of("0123456789"));
}

struct Examined {
    ImageFacts facts;
    ImagePlan plan;
};

Result<Examined> examine(const EnvironmentSpec& spec,
                         const ImageRequest& request,
                         const dockerapi::Image& base,
                         const Settings& settings,
                         const std::stop_token& stop)
{
    Examined examined;
    examined.facts = TRY(probe_image(request.engine, base.id, series_of(spec.packages.python), stop)
                             .map_error(while_doing("image '{}'", request.base)));
    TRY(check_engine_space(examined.facts, space_needed(spec.packages, settings)));
    examined.plan = TRY(choose_image_way(
        spec.packages, examined.facts, [&] { return find_carrier(settings, stop); }));
    return examined;
}

Result<Built> build(const EnvironmentSpec& spec,
                    const ImageRequest& request,
                    const dockerapi::Image& base,
                    const std::string& engine_id,
                    const std::optional<Lock>& lock,
                    const BuildContext& context)
{
    const auto [facts, plan] = TRY(examine(spec, request, base, context.settings, context.stop));
    auto with_channels = spec;
    if (with_channels.packages.channels.empty())
        with_channels.packages.channels = context.settings.default_channels;
    // The key is the request's own, whatever the image made necessary.
    TRY(build_environment_image({.spec = with_channels,
                                 .key = key_of(spec),
                                 .request = request,
                                 .base = base,
                                 .facts = facts,
                                 .plan = plan,
                                 .lock = lock},
                                context));
    auto image = TRY(find_built(request.engine, key_of(spec), context.stop));
    if (!image)
        return fail(ErrorKind::unavailable, "the engine no longer has the image that it built");
    Built built;
    built.record = record_of(*image, base, engine_id, request);
    built.record.builder = plan.builder();
    built.record.choice = plan.reason;
    built.lock = TRY(read_image_lock(request.engine, image->id, context.stop));
    TRY(os::remove_tree(context.folder / "prefix"));  // it is in the image now
    return built;
}

}  // namespace

Result<Preparation> plan_image(const Settings& settings,
                               const Request& request,
                               PackageRequest packages,
                               const Progress& progress,
                               std::stop_token stop)
{
    const auto& image_request = *request.image;
    const auto base = TRY(provide_base(image_request, progress, stop));
    const auto info = TRY(image_request.engine.info(after(patience), stop));
    Preparation preparation;
    preparation.spec = {.form = Form::image,
                        .platform = conda_platform(image_request.engine.version().architecture),
                        .base = identity_of(base),
                        .packages = std::move(packages)};
    auto& spec = preparation.spec;
    if (spec.packages.needs_conda() && spec.packages.channels.empty())
        spec.packages.channels = settings.default_channels;
    if (request.lock) spec.lock_digest = digest_of(*request.lock).text();
    preparation.id = key_of(spec) + "." + sha256(info.id).text().substr(0, 8);
    preparation.fault = [image_request](const Record& record,
                                        const std::stop_token& token) -> Result<std::string> {
        const auto image = TRY(find_built(image_request.engine, record.key, token));
        if (image && image->id == record.image) return std::string();
        return std::string(image ? "its image was replaced"
                                 : "its image was removed from the engine");
    };
    preparation.examine =
        [spec, image_request, base, &settings](
            const std::stop_token& token) -> Result<std::pair<std::string, std::string>> {
        const auto examined = TRY(examine(spec, image_request, base, settings, token));
        return std::pair(examined.plan.builder(), examined.plan.reason);
    };
    preparation.adopt = [image_request, base, key = key_of(spec), engine = info.id](
                            const std::stop_token& token) -> Result<std::optional<Built>> {
        const auto image = TRY(find_built(image_request.engine, key, token));
        if (!image) return std::nullopt;
        // One without its list is built again.
        auto lock = read_image_lock(image_request.engine, image->id, token);
        if (!lock) return std::nullopt;
        return Built{record_of(*image, base, engine, image_request), std::move(*lock)};
    };
    preparation.build = [spec, image_request, base, engine = info.id, lock = request.lock](
                            const BuildContext& context) {
        return build(spec, image_request, base, engine, lock, context);
    };
    return preparation;
}

}  // namespace ponk::environment
