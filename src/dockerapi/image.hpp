// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"
#include "dockerapi/registry.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace ponk::dockerapi {

// A line about a long step, for people.
using Report = std::function<void(const std::string& line)>;

struct Image {
    std::string id;  // "sha256:…"
    std::vector<std::string>
        digests;  // "NAME@sha256:…", as registries know it; none when made here
    std::string architecture;
    std::string os;
    std::string user;
    std::string directory;
    std::vector<std::string> environment;
    std::int64_t size = 0;
    std::string created;
    std::vector<std::pair<std::string, std::string>> labels;
    std::vector<std::string> tags;

    [[nodiscard]] std::string label(std::string_view name) const;
};

// What the engine says of an image; absent parts are empty.
Image image_of(const Json& answer);

Result<std::optional<Image>>
find_image(const Engine& engine, const std::string& name, Deadline deadline, std::stop_token stop);
// Brings the image from its registry. Without a tag it is ":latest", never all of them.
Result<> pull_image(const Engine& engine,
                    const std::string& name,
                    const std::optional<Login>& login,
                    const Report& report,
                    std::stop_token stop);
// Images that carry the label "NAME" or "NAME=VALUE".
Result<std::vector<Image>> list_images(const Engine& engine,
                                       const std::string& label,
                                       Deadline deadline,
                                       std::stop_token stop);
// Gives it one more name, "NAME:TAG".
Result<> tag_image(const Engine& engine,
                   const std::string& image,
                   const std::string& name,
                   Deadline deadline,
                   std::stop_token stop);
// Takes the name from it, and removes it when that was its last one, though containers that ended
// were made of it; `conflict` while one runs. One that is gone is not an error.
Result<> remove_image(const Engine& engine, const std::string& name, Deadline deadline);

struct BuildSpec {
    std::string tag;
    std::string dockerfile = "Dockerfile";  // inside the context
    std::string network;                    // for RUN steps; empty: the engine's default
    std::vector<std::pair<std::string, std::string>> arguments;  // not kept in the image
    std::vector<std::pair<std::string, std::string>> labels;
};
// Builds with BuildKit from a tar stream and returns the image's id. The error of a failed step
// holds the end of what it printed.
Result<std::string> build_image(const Engine& engine,
                                const BuildSpec& spec,
                                std::function<Result<>(std::string& out)> context,
                                const Report& report,
                                std::stop_token stop);

}  // namespace ponk::dockerapi
