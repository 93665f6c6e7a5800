// SPDX-License-Identifier: Apache-2.0
#include "api/native/live_subjects.hpp"

#include "base/text.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace ponk::api {

namespace {

using Clock = LiveSubject::Clock;

constexpr std::string_view list_name = "runs";
constexpr std::string_view run_prefix = "run/";
// Of one message; the rest comes with the next.
constexpr std::size_t most_events = 200;
constexpr std::size_t most_text = 64 * 1024;

// Which runs a list may show otherwise than before.
class ListSubject final : public LiveSubject {
public:
    ListSubject(const Services& services, LiveNews& news)
        : options_(services.live->options), news_(news)
    {
        news_.watch_list(true);
    }
    ~ListSubject() override { news_.watch_list(false); }
    ListSubject(const ListSubject&) = delete;
    ListSubject& operator=(const ListSubject&) = delete;

    std::optional<Json> next(Clock::time_point now) override
    {
        marks_ = news_.marks_of_list();
        if (now < due()) return std::nullopt;
        const auto told = news_.take_list();
        const bool all = std::exchange(first_, false) || told.many;
        marks_ = {};
        told_at_ = now;
        JsonArray changed;
        if (!all) {
            for (const auto& run : told.changed)
                changed.emplace_back(run.text());
        }
        return JsonObject{{"subject", list_name},
                          {"number", ++number_},
                          {"changed", all ? Json() : Json(std::move(changed))},
                          {"only_points", number_ > 1 && !told.row}};
    }
    [[nodiscard]] Clock::time_point due() const override
    {
        if (first_ || marks_.row) return told_at_ + options_.list_interval;
        if (marks_.points) return told_at_ + options_.points_interval;
        return Clock::time_point::max();
    }

private:
    const LiveSockets::Options& options_;
    LiveNews& news_;
    LiveNews::OfList marks_ = {};
    bool first_ = true;  // who begins to watch knows nothing yet
    std::int64_t number_ = 0;
    Clock::time_point told_at_ = {};
};

// A run: its state, its story, how much of its log there is, and whether there is more to ask for.
class RunSubject final : public LiveSubject {
public:
    RunSubject(const Services& services, LiveNews& news, const Watched& watched)
        : services_(services), options_(services.live->options), news_(news), id_(*watched.run),
          name_(watched.name), after_(watched.after)
    {
        news_.watch_run(id_);
    }
    ~RunSubject() override { news_.leave_run(id_); }
    RunSubject(const RunSubject&) = delete;
    RunSubject& operator=(const RunSubject&) = delete;

    std::optional<Json> next(Clock::time_point now) override
    {
        const auto marks = news_.marks_of_run(id_);
        fresh_ = fresh_ || marks.words || marks.row || marks.points;
        if (now < due()) return std::nullopt;
        const auto latest = news_.take_run(id_);
        if (latest.row) ++now_.row;
        if (latest.points) ++now_.points;
        fresh_ = false;
        looked_at_ = now;
        auto message = look();
        if (!message) {
            over_ = true;
            return JsonObject{{"subject", name_},
                              {"error",
                               JsonObject{{"kind", to_string(message.error().kind())},
                                          {"message", message.error().message()},
                                          {"hint", message.error().hint()}}}};
        }
        if (*message) told_at_ = now;
        return std::move(*message);
    }
    [[nodiscard]] Clock::time_point due() const override
    {
        if (over_) return Clock::time_point::max();
        return fresh_ ? told_at_ + options_.run_interval : looked_at_ + options_.look_interval;
    }
    [[nodiscard]] bool is_over() const override { return over_; }

private:
    struct Look {
        std::string state = {};
        std::uint64_t log = 0;
        std::int64_t row = 0;
        std::int64_t points = 0;
        friend bool operator==(const Look&, const Look&) = default;
    };

    Result<std::optional<Json>> look()
    {
        // State before events: an end that is seen now has all its events written.
        const auto state = TRY(services_.history().find_state(id_));
        if (!state) return fail(ErrorKind::not_found, "there is no run '{}'", id_.text());
        now_.state = model::to_string(*state);
        std::error_code none;
        const auto size = std::filesystem::file_size(services_.context().log_of(id_).path, none);
        now_.log = none ? 0 : size;
        const auto events = TRY(services_.history().events(id_, after_, most_events));
        if (events.empty() && told_ && *told_ == now_) return std::optional<Json>();
        told_ = now_;
        JsonArray list;
        std::size_t text = 0;
        for (const auto& event : events) {
            list.emplace_back(JsonObject{{"seq", event.number},
                                         {"time", utc_text(event.time)},
                                         {"kind", event.kind},
                                         {"text", event.text}});
            after_ = event.number;
            text += event.text.size();
            if (text > most_text) break;
        }
        // The rest does not wait for news.
        fresh_ = list.size() < events.size() || events.size() == most_events;
        return Json(JsonObject{{"subject", name_},
                               {"state", now_.state},
                               {"seq", after_},
                               {"events", std::move(list)},
                               {"more", fresh_},
                               {"log", now_.log},
                               {"row", now_.row},
                               {"points", now_.points}});
    }

    const Services& services_;
    const LiveSockets::Options& options_;
    LiveNews& news_;
    RunId id_;
    std::string name_;
    std::int64_t after_;
    Look now_ = {};
    std::optional<Look> told_ = {};
    bool fresh_ = true;
    bool over_ = false;
    Clock::time_point told_at_ = {};
    Clock::time_point looked_at_ = {};
};

}  // namespace

Result<Watched> parse_watched(const Json& message, std::string_view member)
{
    Watched watched{.name = message.text(member)};
    watched.after = message.integer("after");
    if (watched.name == list_name) return watched;
    if (watched.name.starts_with(run_prefix)) {
        const auto id = RunId::parse(std::string_view(watched.name).substr(run_prefix.size()));
        if (id && watched.after >= 0) {
            watched.run = *id;
            return watched;
        }
    }
    return fail(ErrorKind::invalid_argument,
                "'{}' must be 'runs' or 'run/' and the whole id of a run, 'after' a number",
                member);
}

// As the calls that show the same.
Permission permission_of(const Watched& /*watched*/)
{
    return Permission::read;
}

std::unique_ptr<LiveSubject>
make_subject(const Services& services, LiveNews& news, const Watched& watched)
{
    if (watched.run) return std::make_unique<RunSubject>(services, news, watched);
    return std::make_unique<ListSubject>(services, news);
}

}  // namespace ponk::api
