// SPDX-License-Identifier: Apache-2.0
#include "environment/build/base_name.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "environment/spec/image_names.hpp"

#include <algorithm>
#include <chrono>

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 60s;

}  // namespace

Result<BaseName> BaseName::make(const dockerapi::Engine& engine,
                                const std::string& wanted,
                                const dockerapi::Image& image,
                                std::stop_token stop)
{
    if (wanted.find("sha256:") == std::string::npos) return BaseName(engine, wanted, false);
    const auto digits = image.id.substr(image.id.find(':') + 1).substr(0, 32);
    auto name = base_tag(digits);
    const bool named = std::any_of(image.tags.begin(), image.tags.end(), [&](const auto& tag) {
        return tag.find(name) == std::string::npos;
    });
    if (named) name += "-" + to_hex(random_bytes(4));  // builds at the same time have their own
    TRY(dockerapi::tag_image(engine, image.id, name, after(patience), std::move(stop)));
    return BaseName(engine, std::move(name), named);
}

BaseName::~BaseName()
{
    if (goes_) static_cast<void>(dockerapi::remove_image(engine_, text_, after(patience)));
}

BaseName::BaseName(BaseName&& other) noexcept
    : engine_(std::move(other.engine_)), text_(std::move(other.text_)),
      goes_(std::exchange(other.goes_, false))
{
}

}  // namespace ponk::environment
