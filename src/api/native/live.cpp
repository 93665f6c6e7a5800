// SPDX-License-Identifier: Apache-2.0
// The socket by which a page hears what has changed: docs/design/live.md.
#include "api/access/audited.hpp"
#include "api/native/handlers.hpp"
#include "api/native/live_news.hpp"
#include "api/native/live_subjects.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "net/web_socket.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace ponk::api {

namespace {

using Clock = LiveSubject::Clock;

// Codes of our own, and of RFC 6455.
constexpr int no_session = 4401;
constexpr int wrong_message = 1008;
constexpr int too_many = 1013;

constexpr JsonLimits message_limits{.depth = 4, .bytes = 16 * 1024, .values = 100};

class LiveDialogue final : public net::Dialogue {
public:
    LiveDialogue(const Services& services, net::Request request)
        : services_(services), options_(services.live->options), request_(std::move(request)),
          hello_until_(Clock::now() + options_.hello_limit)
    {
    }

    void attach(std::function<void()> ring) override
    {
        news_->ring_by(std::move(ring));
        watch_ = services_.context().notifier.watch(
            [news = news_](const RunId* run, engine::News what) { news->tell(run, what); });
    }

    void take(std::string_view text) override
    {
        if (closing_) return;
        const auto message = parse_json(text, message_limits);
        if (!message || !message->is_object())
            return end(wrong_message, "a message must be a JSON object");
        if (!place_) return hello(*message);
        const bool watches = !(*message)["watch"].is_null();
        const auto watched = parse_watched(*message, watches ? "watch" : "unwatch");
        if (!watched) return end(wrong_message, watched.error().message());
        if (!watches) return leave(watched->name);
        watch(*watched);
    }

    Step next(std::string& out) override
    {
        const auto now = Clock::now();
        if (!closing_ && !place_ && now >= hello_until_)
            end(no_session, "nobody said whose connection this is");
        // Asked before anything is said: nothing is told to a session that has ended.
        if (!closing_ && place_) look_at_session();
        if (closing_) return Step::end;
        if (!greeting_.empty()) {
            out = std::exchange(greeting_, {});
            return Step::message;
        }
        return next_of_subjects(now, out) ? Step::message : Step::waiting;
    }

    [[nodiscard]] std::chrono::milliseconds patience() const override
    {
        const auto now = Clock::now();
        auto until = place_ ? now + options_.session_interval : hello_until_;
        for (const auto& entry : subjects_)
            until = std::min(until, entry.second->due());
        return std::max(std::chrono::ceil<std::chrono::milliseconds>(until - now),
                        std::chrono::milliseconds(1));
    }

    [[nodiscard]] std::string client() const override { return client_; }
    [[nodiscard]] Closing closing() const override
    {
        return closing_.value_or(Closing{1011, "the daemon could not go on"});
    }

private:
    void end(int code, std::string reason) { closing_ = Closing{code, std::move(reason)}; }

    void hello(const Json& message)
    {
        const auto text = message.text("hello");
        auto session =
            services_.sessions == nullptr ? std::nullopt : services_.sessions->find(text);
        if (!session) {
            refused();
            return end(no_session, "the session is unknown or has ended");
        }
        session_ = session->session.id;
        client_ = client_of({session->token, session->role, session_});
        place_ = services_.live->enter(client_);
        if (!place_) return end(too_many, "this client has too many connections already");
        greeting_ = to_json(
            JsonObject{{"hello", JsonObject{{"session", session_}, {"version", own_version()}}}});
    }

    // In the audit log, as a call with a wrong session is.
    void refused() const
    {
        Audited audited(services_.audit, request_);
        audited.route("/api/v1", "/ui/live", Permission::login, {});
        net::Response answer;
        answer.status = 401;
        audited.refused(answer);
    }

    void look_at_session()
    {
        const auto session = services_.sessions->find_by_id(session_);
        if (!session) return end(no_session, "the session has ended");
        role_ = session->role;
        is_owner_ = session->token.empty();
    }

    void watch(const Watched& watched)
    {
        look_at_session();
        if (closing_) return;
        const auto needed = permission_of(watched);
        if (!is_owner_ && !suffices(role_, needed))
            return end(wrong_message, "the session may not watch '" + watched.name + "'");
        subjects_.erase(watched.name);
        if (subjects_.size() >= options_.subjects)
            return end(wrong_message, fmt::format("more than {} subjects", options_.subjects));
        subjects_.emplace(watched.name, make_subject(services_, *news_, watched));
    }

    void leave(const std::string& name) { subjects_.erase(name); }

    // Each in its turn, so that one with much news leaves room for others.
    bool next_of_subjects(Clock::time_point now, std::string& out)
    {
        auto at = subjects_.upper_bound(last_);
        for (std::size_t i = 0; i < subjects_.size(); ++i, ++at) {
            if (at == subjects_.end()) at = subjects_.begin();
            const auto message = at->second->next(now);
            if (!message) continue;
            out = to_json(*message);
            last_ = at->first;
            if (at->second->is_over()) subjects_.erase(at);
            return true;
        }
        return false;
    }

    const Services& services_;
    const LiveSockets::Options& options_;
    net::Request request_;
    Clock::time_point hello_until_;
    std::shared_ptr<LiveNews> news_ = std::make_shared<LiveNews>();
    engine::Notifier::Subscription watch_;
    std::string session_;
    std::string client_;
    Role role_ = Role::read;
    bool is_owner_ = false;
    std::unique_ptr<LiveSockets::Place> place_;  // once it is known whose it is
    std::string greeting_;
    std::optional<Closing> closing_;
    std::map<std::string, std::unique_ptr<LiveSubject>> subjects_;
    std::string last_;  // the subject of the last message
};

}  // namespace

Result<net::Response> begin_live(const Services& services, const Call& call)
{
    return net::begin_web_socket(call.request,
                                 std::make_unique<LiveDialogue>(services, call.request));
}

}  // namespace ponk::api
