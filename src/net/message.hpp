// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

// What a handler sees of a call. `path` is split and decoded: one element per segment.
struct Request {
    std::string method;
    std::vector<std::string> path;
    std::vector<std::pair<std::string, std::string>> query;
    Headers headers;
    std::string body;

    [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
    [[nodiscard]] std::string header(std::string_view name) const;
};

// A body that is made while it is sent. All calls come one at a time, on the server's I/O threads,
// so none may block.
class BodySource {
public:
    // broken: the rest cannot be had; the connection is cut, so that nobody takes a part for all.
    enum class Step { data, waiting, end, broken };

    virtual ~BodySource() = default;

    // `ring` may be called from any thread, also after the source is gone; it makes the server ask
    // again after a `waiting`.
    virtual void attach(std::function<void()> ring) = 0;
    // Appends the next bytes to `out` (about 256 KiB at most) and says what comes.
    virtual Step next(std::string& out) = 0;
    // After a `waiting` the server asks again after this long, rung or not.
    [[nodiscard]] virtual std::chrono::milliseconds patience() const
    {
        return std::chrono::seconds(30);
    }
};

struct Response {
    int status = 200;
    std::string type = "application/json";
    Headers headers;
    std::string body;
    std::unique_ptr<BodySource> stream;  // instead of `body`
};

Response json_response(const Json& value, int status = 200);
Response error_response(const Error& error);
int status_of(ErrorKind kind);

}  // namespace ponk::net
