// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace ponk {

// A run's name everywhere: 32 hex digits of a UUIDv7, so that ids sort by their time of birth and
// are unique without asking anybody.
class RunId {
public:
    RunId() = default;
    static RunId make();
    static Result<RunId> parse(std::string_view text);

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    // What tables show: the last eight digits (the first ones are alike for a whole day).
    [[nodiscard]] std::string brief() const { return text_.empty() ? text_ : text_.substr(24); }
    [[nodiscard]] bool empty() const noexcept { return text_.empty(); }

    friend auto operator<=>(const RunId&, const RunId&) = default;

private:
    explicit RunId(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

}  // namespace ponk
