// SPDX-License-Identifier: Apache-2.0
// Calls that answer when something happens: they wait as a stream, not as a thread.
#include "api/native/handlers.hpp"
#include "api/native/run_json.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

#include <algorithm>

namespace ponk::api {

namespace {

constexpr std::int64_t longest_wait = 3600;

bool reached(model::RunState state, std::string_view until)
{
    if (model::is_terminal(state)) return true;
    return (until == "started" || until == "accepted") && state >= model::RunState::running;
}

// Nobody needs to wait for what comes now: its files are taken, and it is the target's turn.
bool accepted(const Services& services, const RunId& id, model::RunState state)
{
    if (state == model::RunState::queued || services.engine.outage(id)) return true;
    if (state != model::RunState::preparing) return false;
    const auto run = services.history().find_run(id);
    return run && *run && !(*run)->snapshot.empty();
}

class WaitSource final : public net::BodySource {
public:
    WaitSource(const Services& services, RunId id, std::string until, Deadline deadline)
        : services_(services), id_(std::move(id)), until_(std::move(until)), deadline_(deadline)
    {
    }

    [[nodiscard]] std::chrono::milliseconds patience() const override
    {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Deadline::clock::now());
        return std::max(left, std::chrono::milliseconds(1));
    }

    void attach(std::function<void()> ring) override
    {
        subscription_ = services_.context().notifier.subscribe(id_, std::move(ring));
    }

    Step next(std::string& out) override
    {
        const auto state = services_.history().find_state(id_);
        if (state && *state && !reached(**state, until_) && Deadline::clock::now() < deadline_ &&
            !(until_ == "accepted" && accepted(services_, id_, **state)))
            return Step::waiting;
        const auto run = services_.history().get_run(id_);
        const auto json =
            run ? run_json(services_, *run) : Result<Json>(tl::unexpected(run.error()));
        if (!json && json.error().kind() == ErrorKind::unavailable) return Step::no_room;
        out = json ? to_json(*json) + "\n" : net::error_response(json.error()).body;
        return Step::end;
    }

private:
    const Services& services_;
    RunId id_;
    std::string until_;
    Deadline deadline_;
    engine::Notifier::Subscription subscription_;
};

class EventSource final : public net::BodySource {
public:
    enum class Follow { no, yes };

    EventSource(const Services& services, RunId id, std::int64_t after, Follow follow)
        : services_(services), id_(std::move(id)), after_(after), follow_(follow)
    {
    }

    void attach(std::function<void()> ring) override
    {
        subscription_ = services_.context().notifier.subscribe(id_, std::move(ring));
    }

    Step next(std::string& out) override
    {
        // State before events: an end that is seen now has all its events written.
        const auto state = services_.history().find_state(id_);
        const bool over = !state || !*state || model::is_terminal(**state) || follow_ == Follow::no;
        const auto events = services_.history().events(id_, after_);
        if (!events) return Step::end;
        for (const auto& event : *events) {
            out += to_json(JsonObject{{"seq", event.number},
                                      {"time", utc_text(event.time)},
                                      {"kind", event.kind},
                                      {"text", event.text}}) +
                   "\n";
            after_ = event.number;
        }
        if (!events->empty()) return Step::data;
        return over ? Step::end : Step::waiting;
    }

private:
    const Services& services_;
    RunId id_;
    std::int64_t after_;
    Follow follow_;
    engine::Notifier::Subscription subscription_;
};

}  // namespace

Result<net::Response> wait_for_run(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    const auto seconds = parse_integer(call.request.parameter("timeout").value_or("30"));
    if (!seconds || *seconds < 0 || *seconds > longest_wait)
        return fail(ErrorKind::invalid_argument, "'timeout' must be 0 to {} seconds", longest_wait);
    net::Response response;
    response.stream =
        std::make_unique<WaitSource>(services,
                                     id,
                                     call.request.parameter("until").value_or("ended"),
                                     after(std::chrono::seconds(*seconds)));
    return response;
}

Result<net::Response> show_events(const Services& services, const Call& call)
{
    const auto id = TRY(run_of(services, call));
    const auto after = parse_integer(call.request.parameter("after").value_or("0"));
    if (!after) return fail(ErrorKind::invalid_argument, "'after' must be a number");
    const auto follow = call.request.parameter("follow").value_or("") == "1"
                            ? EventSource::Follow::yes
                            : EventSource::Follow::no;
    net::Response response;
    response.type = "application/x-ndjson";
    response.stream = std::make_unique<EventSource>(services, id, *after, follow);
    return response;
}

}  // namespace ponk::api
