// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/image.hpp"

#include <string>

namespace ponk::environment {

// A name of a base image that a build can begin with. Builders look for what is known only by its
// id or digest in a registry; so such an image gets a tag of ours, which goes with this object
// unless it is the image's only one: without any, clean-ups would take it from those who want it
// by its id.
class BaseName {
public:
    static Result<BaseName> make(const dockerapi::Engine& engine,
                                 const std::string& wanted,
                                 const dockerapi::Image& image,
                                 std::stop_token stop);
    ~BaseName();
    BaseName(BaseName&& other) noexcept;
    BaseName& operator=(BaseName&&) = delete;
    BaseName(const BaseName&) = delete;
    BaseName& operator=(const BaseName&) = delete;

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    BaseName(dockerapi::Engine engine, std::string text, bool goes)
        : engine_(std::move(engine)), text_(std::move(text)), goes_(goes)
    {
    }

    dockerapi::Engine engine_;
    std::string text_;
    bool goes_ = false;
};

}  // namespace ponk::environment
