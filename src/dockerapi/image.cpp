// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/image.hpp"

#include "base/text.hpp"
#include "dockerapi/progress.hpp"

#include <fmt/format.h>

#include <chrono>

namespace ponk::dockerapi {

using namespace std::chrono_literals;

namespace {

// A compiler or a solver inside a build may be silent for long.
constexpr auto build_patience = 60min;
constexpr auto pull_patience = 5min;

std::vector<std::pair<std::string, std::string>> labels_of(const Json& object)
{
    std::vector<std::pair<std::string, std::string>> labels;
    if (!object.is_object()) return labels;
    for (const auto& [name, value] : object.as_object())
        if (value.is_string()) labels.emplace_back(name, value.as_string());
    return labels;
}

std::string object_text(const std::vector<std::pair<std::string, std::string>>& pairs)
{
    JsonObject object;
    for (const auto& [name, value] : pairs)
        object.set(name, value);
    return to_json(object);
}

// "host:5000/name:tag" → the name and its tag; a digest counts as one.
std::pair<std::string, std::string> split_name(const std::string& image)
{
    if (const auto at = image.find('@'); at != std::string::npos)
        return {image.substr(0, at), image.substr(at + 1)};
    const auto slash = image.rfind('/');
    const auto colon = image.find(':', slash == std::string::npos ? 0 : slash);
    if (colon == std::string::npos) return {image, "latest"};
    return {image.substr(0, colon), image.substr(colon + 1)};
}

}  // namespace

std::string Image::label(std::string_view name) const
{
    for (const auto& [key, value] : labels)
        if (key == name) return value;
    return {};
}

Result<std::optional<Image>>
find_image(const Engine& engine, const std::string& name, Deadline deadline, std::stop_token stop)
{
    const auto answer = engine.json(
        "GET", fmt::format("/images/{}/json", url_part(name)), {}, deadline, std::move(stop));
    if (!answer) {
        if (answer.error().kind() == ErrorKind::not_found) return std::nullopt;
        return tl::unexpected(answer.error());
    }
    const auto& config = (*answer)["Config"];
    return Image{.id = answer->text("Id"),
                 .digests = texts_of((*answer)["RepoDigests"]),
                 .architecture = answer->text("Architecture"),
                 .os = answer->text("Os"),
                 .user = config.text("User"),
                 .directory = config.text("WorkingDir"),
                 .environment = texts_of(config["Env"]),
                 .size = answer->integer("Size"),
                 .created = answer->text("Created"),
                 .labels = labels_of(config["Labels"]),
                 .tags = texts_of((*answer)["RepoTags"])};
}

Result<> pull_image(const Engine& engine,
                    const std::string& name,
                    const std::optional<Login>& login,
                    const Report& report,
                    std::stop_token stop)
{
    const auto [repository, tag] = split_name(name);
    net::Call call{.method = "POST",
                   .target = fmt::format(
                       "/images/create?fromImage={}&tag={}", url_part(repository), url_part(tag))};
    if (login) call.headers.emplace_back("X-Registry-Auth", header_of(*login));
    PullProgress progress(report);
    const auto what = while_doing("pull '{}'", printable(name));
    TRY(engine
            .exchange(
                std::move(call),
                [&progress](std::string_view bytes) {
                    progress.take(bytes);
                    return true;
                },
                net::while_moving(pull_patience),
                std::move(stop))
            .map_error(what));
    return progress.result().map_error(what);
}

Result<std::vector<Image>>
list_images(const Engine& engine, const std::string& label, Deadline deadline, std::stop_token stop)
{
    const auto filter = to_json(JsonObject{{"label", JsonArray{label}}});
    const auto answer = TRY(engine.json(
        "GET", "/images/json?filters=" + url_part(filter), {}, deadline, std::move(stop)));
    std::vector<Image> images;
    if (!answer.is_array()) return images;
    for (const auto& item : answer.as_array()) {
        images.push_back(Image{.id = item.text("Id"),
                               .digests = texts_of(item["RepoDigests"]),
                               .size = item.integer("Size"),
                               .created = fmt::format("{}", item.integer("Created")),
                               .labels = labels_of(item["Labels"]),
                               .tags = texts_of(item["RepoTags"])});
    }
    return images;
}

Result<> remove_image(const Engine& engine, const std::string& name, Deadline deadline)
{
    // Docker's force leaves containers that ended where they are; Podman's would remove them.
    const auto* force = engine.version().podman ? "" : "?force=true";
    const auto answer =
        engine.json("DELETE", fmt::format("/images/{}{}", url_part(name), force), {}, deadline);
    if (answer || answer.error().kind() == ErrorKind::not_found) return {};
    return tl::unexpected(answer.error());
}

Result<std::string> build_image(const Engine& engine,
                                const BuildSpec& spec,
                                std::function<Result<>(std::string& out)> context,
                                const Report& report,
                                std::stop_token stop)
{
    auto target = fmt::format("/build?version=2&rm=true&t={}&dockerfile={}&buildargs={}&labels={}",
                              url_part(spec.tag),
                              url_part(spec.dockerfile),
                              url_part(object_text(spec.arguments)),
                              url_part(object_text(spec.labels)));
    if (!spec.network.empty()) target += "&networkmode=" + url_part(spec.network);
    net::Call call{.method = "POST",
                   .target = std::move(target),
                   .headers = {{"Content-Type", "application/x-tar"}},
                   .source = std::move(context)};
    BuildProgress progress(report);
    TRY(engine.exchange(
        std::move(call),
        [&progress](std::string_view bytes) {
            progress.take(bytes);
            return true;
        },
        net::while_moving(build_patience),
        std::move(stop)));
    return progress.result();
}

}  // namespace ponk::dockerapi
