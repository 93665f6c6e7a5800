// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/schema/schema.hpp"
#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"

#include <string>
#include <string_view>

namespace ponk::config {

// What the name of an image says about GPUs. Most names say nothing.
enum class ImageGpu { yes, no, unknown };

ImageGpu gpu_of_image(std::string_view image);

// Remarks about an image name as written in `node`: double colons, characters that no image
// has, images that are gone.
void check_image(const Node& node, Report& report);

struct GpuAgreement {
    const Located<std::string>& image;
    const Located<bool>& flag;
    std::string_view image_key;
    std::string_view flag_key;
};
// Remarks when one of image and flag speaks of a GPU and the other does not.
void check_gpu_agreement(const GpuAgreement& both, Report& report);

// "1g", "512m", "65536"
bool is_memory_size(std::string_view text);

}  // namespace ponk::config
