// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/access/permission.hpp"
#include "api/http/services.hpp"
#include "api/native/live_news.hpp"
#include "base/json.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace ponk::api {

// Something that a page watches: it has one message when there is news, made of what is so then.
// For one thread at a time.
class LiveSubject {
public:
    using Clock = std::chrono::steady_clock;

    virtual ~LiveSubject() = default;
    // The message, when there is news and its time has come. May read files and the database.
    virtual std::optional<Json> next(Clock::time_point now) = 0;
    // When to ask again; news that come before are rung for.
    [[nodiscard]] virtual Clock::time_point due() const = 0;
    // Whether that message was the last.
    [[nodiscard]] virtual bool is_over() const { return false; }
};

// What a page asked to watch.
struct Watched {
    std::string name;  // "runs", "run/ID"
    std::optional<RunId> run = {};
    std::int64_t after = 0;  // the last event that it knows
};
// `invalid_argument` for what is no subject.
Result<Watched> parse_watched(const Json& message, std::string_view member);
Permission permission_of(const Watched& watched);
std::unique_ptr<LiveSubject>
make_subject(const Services& services, LiveNews& news, const Watched& watched);

}  // namespace ponk::api
