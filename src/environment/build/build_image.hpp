// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/image.hpp"
#include "environment/build/image_probe.hpp"
#include "environment/build/preparation.hpp"

namespace ponk::environment {

// How an image gets its environment.
enum class ImageWay {
    venv,        // the image's own Python, with venv and pip
    conda,       // the image's own conda
    linked_here  // py-rattler on this machine; the prefix becomes a layer
};

struct ImagePlan {
    ImageWay way = ImageWay::venv;
    ImageFacts::Interpreter python;  // of the image
    CondaTool conda;                 // of the image
    std::optional<Python> carrier;   // of this machine, for py-rattler
    std::string reason;

    [[nodiscard]] std::string builder() const;
};

// `carrier` finds a Python on this machine that can carry py-rattler; asked only when needed.
Result<ImagePlan> choose_image_way(const PackageRequest& packages,
                                   const ImageFacts& facts,
                                   const std::function<std::optional<Python>()>& carrier);

struct ImageWork {
    const EnvironmentSpec& spec;  // with the channels in force
    std::string key;
    const ImageRequest& request;
    const dockerapi::Image& base;
    const ImageFacts& facts;
    const ImagePlan& plan;
    const std::optional<Lock>& lock;
};

// Builds and tags the image; returns its id.
Result<std::string> build_environment_image(const ImageWork& work, const BuildContext& context);

// The engine's error with the reason in its first line, without secrets, and what to do.
Error explain_build_failure(const Error& error, const Redactor& redactor);

// The text of the Dockerfile, without anything secret in it.
std::string dockerfile_for(const ImageWork& work, const std::string& base);

// The list of packages that the build left in the image.
Result<Lock>
read_image_lock(const dockerapi::Engine& engine, const std::string& image, std::stop_token stop);

}  // namespace ponk::environment
