// SPDX-License-Identifier: Apache-2.0
#include "relay/forwarded_requests.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

#include <thread>
#include <unistd.h>

namespace ponk::relay {

namespace {

using namespace std::chrono_literals;

constexpr auto first_pause = 1ms;
constexpr auto longest_pause = 20ms;
constexpr std::size_t longest_answer = std::size_t{17} << 20;

Result<ForwardedAnswer> parse_answer(std::string_view text)
{
    const auto end = text.find('\n');
    const auto head =
        end == std::string_view::npos ? Result<Json>(Json()) : parse_json(text.substr(0, end));
    if (!head || !(*head)["status"].is_integer())
        return fail(ErrorKind::damaged, "The ponk daemon's answer cannot be read");
    return ForwardedAnswer{static_cast<int>(head->integer("status")),
                           head->text("type"),
                           head->text("range"),
                           std::string(text.substr(end + 1))};
}

}  // namespace

ForwardedRequests::ForwardedRequests(Recorder& recorder,
                                     const os::Path& directory,
                                     Patience patience)
    : recorder_(recorder), answers_(directory / "answers"), patience_(patience)
{
}

Result<ForwardedAnswer> ForwardedRequests::ask(const ForwardedRequest& ask)
{
    if (ask.body.size() > longest_body)
        return fail(ErrorKind::invalid_argument,
                    "This call is too long to be forwarded to the ponk daemon from a run");
    const auto name = to_hex(random_bytes(8));
    JsonObject record{{"ask", name}, {"method", ask.method}, {"target", ask.target}};
    for (const auto& [key, value] : {std::pair("type", ask.type),
                                     std::pair("range", ask.range),
                                     std::pair("body", ask.body)}) {
        if (!value.empty()) record.append(key, value);
    }
    record.append("time", wall_milliseconds());
    TRY(recorder_.write(
        [&record](const TrackedState&) -> Result<JsonArray> { return JsonArray{record}; }));
    auto answer = wait_for(name);
    in_vain_ = !answer;
    if (answer) return parse_answer(*answer);
    TRY(recorder_.write([&name](const TrackedState&) -> Result<JsonArray> {
        return JsonArray{JsonObject{{"withdrawn", name}, {"time", wall_milliseconds()}}};
    }));
    ::unlink((answers_ / name).c_str());  // it may have come just now
    return tl::unexpected(answer.error());
}

Result<std::string> ForwardedRequests::wait_for(const std::string& name)
{
    const auto patience = in_vain_ ? patience_.in_vain : patience_.usual;
    const auto deadline = after(patience);
    const auto file = answers_ / name;
    for (std::chrono::milliseconds pause = first_pause; Deadline::clock::now() < deadline;) {
        const auto opened = os::open_regular(file, os::Links::refuse);
        if (opened) {
            auto text = os::read_at(opened->get(), 0, longest_answer);
            ::unlink(file.c_str());
            return text;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::milliseconds>(pause * 2, longest_pause);
    }
    return fail(
        ErrorKind::timeout,
        "This call needs the ponk daemon, which did not answer within {} s. Calls about the "
        "run itself work without it",
        std::chrono::duration<double>(patience).count());
}

}  // namespace ponk::relay
