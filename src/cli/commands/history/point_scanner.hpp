// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace ponk::cli {

// Takes the answer of GET /runs/RUN/metrics in pieces of any size and gives away each point as soon
// as it is whole: all of them may be more than there is memory.
class PointScanner {
public:
    // `point` is [step, time, value].
    using Take = std::function<Result<>(const std::string& key, const JsonArray& point)>;

    explicit PointScanner(Take take) : take_(std::move(take)) {}

    Result<> feed(std::string_view bytes);
    // Fails when the answer ended in the middle.
    [[nodiscard]] Result<> finish() const;

private:
    Result<> structural(char c);

    Take take_;
    std::string held_;  // the name or the point that is being read
    std::string key_;
    std::size_t depth_ = 0;
    bool begun_ = false;
    bool in_text_ = false;
    bool escaped_ = false;
};

}  // namespace ponk::cli
