// SPDX-License-Identifier: Apache-2.0
#include "api/access/audited.hpp"

#include "base/text.hpp"
#include "base/time.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace ponk::api {

namespace {

// Calls that come by the thousand from one training: what they log is in history.
constexpr std::array<std::string_view, 17> many{
    "/mlflow/runs/log-metric",
    "/mlflow/runs/log-batch",
    "/mlflow/runs/log-parameter",
    "/mlflow/runs/set-tag",
    "/mlflow/runs/delete-tag",
    "/mlflow/runs/log-inputs",
    "/mlflow/runs/log-model",
    "/mlflow/runs/outputs",
    "/mlflow/traces",
    "/mlflow/traces/{id}",
    "/mlflow/traces/{id}/tags",
    "/v1/traces",
    "/mlflow/traces/{id}/assessments",
    "/mlflow/traces/{id}/assessments/{assessment}",
    "/imports/{import}/step",
    "/gpus",                      // asked once a second by who watches them
    "/projects/{project}/check",  // asked while somebody types
};
// Reads that somebody may want to know of, when they come from elsewhere.
constexpr std::array<std::string_view, 3> sensitive{"/secrets", "/tokens", "/export"};

// Members of a body that name what it is about. Values of tags, parameters and secrets are not
// among them.
constexpr std::array<const char*, 14> naming{"run_id",
                                             "run_uuid",
                                             "experiment_id",
                                             "model_id",
                                             "name",
                                             "new_name",
                                             "version",
                                             "alias",
                                             "stage",
                                             "key",
                                             "role",
                                             "project",
                                             "script",
                                             "target"};
constexpr std::size_t longest_body = 64 * 1024;

bool is_download(std::string_view pattern)
{
    return pattern.find("artifact") != std::string_view::npos && !pattern.ends_with("/artifacts") &&
           !pattern.ends_with("/list");
}

const char* name_of(net::ListenerKind listener_kind)
{
    switch (listener_kind) {
    case net::ListenerKind::unix_socket:
        return "unix";
    case net::ListenerKind::loopback:
        return "loopback";
    case net::ListenerKind::network:
        return "network";
    }
    return "unix";
}

void add_named(const Json& from, JsonObject& object)
{
    for (const char* name : naming) {
        const auto& value = from[name];
        if ((value.is_string() && !value.as_string().empty()) || value.is_integer())
            object.set(name, value.is_string() ? Json(audit::bounded(value.as_string())) : value);
    }
}

// What a call has made is named by its answer alone.
void add_made(const Json& answer, JsonObject& object)
{
    add_named(answer["run"]["info"], object);
    add_named(answer["model"]["info"], object);
    add_named(answer["registered_model"], object);
    add_named(answer["model_version"], object);
    if (const auto& id = answer["experiment_id"]; id.is_string()) object.set("experiment_id", id);
}

bool creates(const audit::Record& record)
{
    return record.route.ends_with("/create") || record.route.ends_with("/logged-models");
}

// Hands a stream's answer to the log.
class WatchedSink final : public net::BodySink {
public:
    // The request is gone by then: `audited` has what it needs.
    WatchedSink(std::unique_ptr<net::BodySink> sink, Audited audited)
        : sink_(std::move(sink)), audited_(std::move(audited))
    {
    }

    std::optional<net::Response> open() override { return seen(sink_->open()); }
    std::optional<net::Response> write(std::string_view bytes) override
    {
        return seen(sink_->write(bytes));
    }
    net::Response finish() override
    {
        auto answer = sink_->finish();
        audited_.answered(answer);
        return answer;
    }
    void abort() noexcept override { sink_->abort(); }

private:
    std::optional<net::Response> seen(std::optional<net::Response> answer)
    {
        if (answer) audited_.answered(*answer);
        return answer;
    }

    std::unique_ptr<net::BodySink> sink_;
    Audited audited_;
};

}  // namespace

Interest interest_of(const net::Request& request, std::string_view pattern, Permission needed)
{
    const bool by_tcp = request.listener_kind != net::ListenerKind::unix_socket;
    const auto ends = [pattern](std::string_view end) { return pattern.ends_with(end); };
    if (request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS") {
        if (by_tcp && std::any_of(sensitive.begin(), sensitive.end(), ends))
            return Interest::recorded;
        return request.listener_kind == net::ListenerKind::network && is_download(pattern)
                   ? Interest::recorded
                   : Interest::none;
    }
    // Searches are sent by POST.
    if (needed == Permission::read || needed == Permission::open) return Interest::none;
    return std::any_of(many.begin(), many.end(), ends) ? Interest::counted : Interest::recorded;
}

Audited::Audited(audit::AuditLog* log, const net::Request& request) : log_(log), request_(&request)
{
}

void Audited::route(std::string_view prefix,
                    std::string_view pattern,
                    Permission needed,
                    const std::vector<std::string>& values)
{
    if (log_ == nullptr) return;
    prefix_ = prefix;
    pattern_ = pattern;
    values_ = &values;
    interest_ = interest_of(*request_, pattern, needed);
}

void Audited::run(const RunId& run)
{
    run_ = run.text();
}

std::string Audited::who() const
{
    static const auto owner = "uid:" + std::to_string(::geteuid());
    if (!run_.empty()) return "run:" + run_;
    if (request_->listener_kind == net::ListenerKind::unix_socket) return owner;
    if (is_owners_session(caller_)) return "session:owner";
    return caller_.token.empty() ? "nobody" : "token:" + caller_.token;
}

void Audited::describe()
{
    record_.time = wall_milliseconds();
    if (request_ == nullptr || !record_.route.empty()) return;
    record_.who = who();
    if (!caller_.token.empty()) record_.role = to_string(caller_.role);
    record_.listener = run_.empty() ? name_of(request_->listener_kind) : "run";
    record_.peer = request_->peer;
    record_.method = request_->method;
    record_.route = pattern_.empty() ? "unknown" : std::string(prefix_) + std::string(pattern_);
    std::size_t at = 0;
    for (const auto& value : *values_) {
        const auto begin = pattern_.find('{', at);
        const auto end = pattern_.find('}', begin);
        if (end == std::string_view::npos) break;
        record_.object.set(std::string(pattern_.substr(begin + 1, end - begin - 1)),
                           audit::bounded(value));
        at = end;
    }
}

void Audited::refused(const net::Response& answer)
{
    if (log_ == nullptr) return;
    describe();
    record_.kind = "refused";
    record_.status = answer.status;
    record_.outcome = "refused";
    log_->refuse(std::move(record_));
    log_ = nullptr;
}

void Audited::counted()
{
    if (log_ == nullptr || interest_ != Interest::counted) return;
    const auto caller = who();
    log_->count({.who = caller,
                 .listener = run_.empty() ? name_of(request_->listener_kind) : "run",
                 .peer = request_->peer,
                 .method = request_->method,
                 .prefix = prefix_,
                 .pattern = pattern_});
}

void Audited::name_objects(const net::Response& answer)
{
    // A run has its id. Its name is free text, in which history hides the values of secrets.
    const bool is_run = pattern_.starts_with("/runs");
    if (request_ != nullptr) {
        for (const char* name : naming) {
            if (const auto value = request_->parameter(name))
                record_.object.set(name, audit::bounded(*value));
        }
        if (!request_->body.empty() && request_->body.size() <= longest_body) {
            if (const auto body = parse_json(request_->body)) add_named(*body, record_.object);
        }
    }
    if (is_run) record_.object.erase("name");
    if (answer.status < 400 && creates(record_) && answer.body.size() <= longest_body) {
        if (const auto body = parse_json(answer.body)) add_made(*body, record_.object);
    }
}

void Audited::answered(const net::Response& answer)
{
    if (log_ == nullptr || interest_ != Interest::recorded) return;
    describe();
    name_objects(answer);
    record_.kind = "request";
    record_.status = answer.status;
    record_.outcome = answer.status < 400 ? "done" : "failed";
    log_->write(std::move(record_));
    log_ = nullptr;  // once
}

std::unique_ptr<net::BodySink> Audited::watch(std::unique_ptr<net::BodySink> sink)
{
    if (log_ == nullptr || interest_ != Interest::recorded) return sink;
    describe();
    Audited audited = std::move(*this);
    audited.request_ = nullptr;  // its body is what the stream brings
    return std::make_unique<WatchedSink>(std::move(sink), std::move(audited));
}

}  // namespace ponk::api
