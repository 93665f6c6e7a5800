// SPDX-License-Identifier: Apache-2.0
#include "config/files/image.hpp"

#include "base/text.hpp"
#include "config/files/retired.hpp"

#include <algorithm>
#include <array>

namespace ponk::config {

namespace {

// Images of which it is known that they hold no CUDA libraries unless their name says so. Those of
// Python hold none either, but packages from PyPI bring their own.
constexpr std::array<std::string_view, 8> plain_images{"microsoft/mmlspark",
                                                       "mcr.microsoft.com/azureml/base",
                                                       "continuumio/miniconda",
                                                       "continuumio/anaconda",
                                                       "tensorflow/tensorflow",
                                                       "ubuntu:",
                                                       "debian:",
                                                       "jupyter/"};

bool has_only_image_characters(std::string_view image)
{
    // The tag and a registry's port follow a colon; a digest an at sign.
    return image.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@") ==
           std::string_view::npos;
}

}  // namespace

ImageGpu gpu_of_image(std::string_view image)
{
    const auto name = lower(trim(image));
    for (const std::string_view word : {"gpu", "cuda", "nvidia"}) {
        if (name.find(word) != std::string::npos) return ImageGpu::yes;
    }
    const bool plain = std::any_of(plain_images.begin(), plain_images.end(), [&](auto start) {
        return name.starts_with(start);
    });
    return plain ? ImageGpu::no : ImageGpu::unknown;
}

void check_image(const Node& node, Report& report)
{
    const std::string_view image = trim(node.text);
    if (const std::size_t colons = image.find("::"); colons != std::string_view::npos) {
        std::string right(image);
        right.replace(colons, image.find_first_not_of(':', colons) - colons, ":");
        report.error(node.place,
                     "image-double-colon",
                     fmt::format("the image name '{}' has a double colon", printable(image)),
                     fmt::format("Write '{}'.", printable(right)));
        return;
    }
    if (is_placeholder(image)) return;
    if (!has_only_image_characters(image) || image.starts_with(':') || image.ends_with(':') ||
        image.starts_with('/') || image.ends_with('/')) {
        report.error(node.place,
                     "image-name",
                     fmt::format("'{}' is not the name of an image", printable(image)),
                     "An image name has the form 'repository:tag', without spaces.");
        return;
    }
    if (const auto* gone = find_retired_image(image)) {
        report.notice(node.place,
                      "image-gone",
                      fmt::format("the image '{}' {}", printable(image), gone->what),
                      std::string(gone->instead));
    }
}

void check_gpu_agreement(const GpuAgreement& both, Report& report)
{
    const auto gpu = both.image->empty() ? ImageGpu::no : gpu_of_image(*both.image);
    if (gpu == ImageGpu::yes && !*both.flag) {
        report.warning(
            both.flag.given() ? both.flag.place : both.image.place,
            "gpu-image-without-flag",
            fmt::format("the image '{}' is for GPUs, but '{}' is not true: the run "
                        "would see no GPU",
                        printable(*both.image),
                        both.flag_key),
            fmt::format("Set '{}: true', or use an image without GPU support.", both.flag_key));
    } else if (gpu == ImageGpu::no && *both.flag) {
        report.warning(both.image.given() ? both.image.place : both.flag.place,
                       "gpu-flag-without-image",
                       both.image->empty()
                           ? fmt::format("'{}' is true, but no '{}' with GPU support is set",
                                         both.flag_key,
                                         both.image_key)
                           : fmt::format("'{}' is true, but the image '{}' has no GPU support",
                                         both.flag_key,
                                         printable(*both.image)),
                       "Use an image with CUDA libraries, or remove the flag.");
    }
}

bool is_memory_size(std::string_view text)
{
    if (!text.empty() && std::string_view("bkmgBKMG").find(text.back()) != std::string_view::npos) {
        text.remove_suffix(1);
    }
    const auto number = parse_integer(text);
    return number && *number > 0;
}

}  // namespace ponk::config
