// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/seal.hpp"

#include <string>
#include <utility>

namespace ponk::ssh {

// A password or passphrase in memory: one owner, overwritten when it goes.
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string&& text) : text_(text) { wipe(text); }
    ~Secret() { wipe(text_); }
    // A short text lives in the object itself, so what was moved from is overwritten, too.
    Secret(Secret&& other) noexcept : text_(other.text_) { wipe(other.text_); }
    Secret& operator=(Secret&& other) noexcept
    {
        if (this == &other) return *this;
        wipe(text_);
        text_ = other.text_;
        wipe(other.text_);
        return *this;
    }
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;

    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    void forget() { wipe(text_); }

private:
    std::string text_;
};

}  // namespace ponk::ssh
