// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/run_calls.hpp"

#include "api/access/audited.hpp"
#include "api/mlflow/limits.hpp"
#include "api/mlflow/routes.hpp"
#include "base/text.hpp"
#include "engine/tracked/child_of.hpp"
#include "mlflow/error.hpp"
#include "mlflow/fields.hpp"
#include "model/run_spec.hpp"
#include "net/target.hpp"
#include "store/models/models.hpp"
#include "store/models/registry.hpp"
#include "store/tracking/traces.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>

namespace ponk::api {

namespace {

using ponk::mlflow::Fields;

// What goes back in one piece. Relays ask for files in smaller ones.
constexpr std::size_t longest_answer = std::size_t{15} << 20;
// What clients say where a version has no files.
constexpr std::string_view prompt_source = "dummy-source";
constexpr std::string_view create_name = "/api/2.0/mlflow/registered-models/create";
constexpr std::string_view create_version = "/api/2.0/mlflow/model-versions/create";

// What a run's script made, as history knows it.
class Own {
public:
    Own(const Services& services, const RunId& run) : history_(services.history()), run_(run.text())
    {
    }

    Result<bool> has_child_run(const std::string& id) const
    {
        const auto found = store::Tracking(history_).get_run(id);
        return found && found->parent == run_;
    }
    Result<bool> has_run(const std::string& id) const
    {
        if (id == run_) return true;
        return has_child_run(id);
    }
    Result<bool> has_model(const std::string& id) const
    {
        const auto found = store::Models(history_).get(id);
        return found && engine::parent_of(found->tags) == run_;
    }
    Result<bool> has_version(const Fields& fields) const
    {
        const auto name = TRY(fields.text("name"));
        const auto found =
            TRY(store::Registry(history_).get_version(name, TRY(fields.integer("version"))));
        return is_own(found);
    }
    // Made by it, or by who came before: then a version of its own is among the newest.
    Result<bool> has_name(const std::string& name) const
    {
        const auto found = TRY(store::Registry(history_).get(name));
        if (engine::parent_of(found.tags) == run_) return true;
        for (const auto& version : found.latest) {
            if (TRY(is_own(version))) return true;
        }
        return false;
    }
    // A version of its own that nobody finds by an alias.
    Result<bool> has_unused_version(const Fields& fields) const
    {
        const auto found = TRY(store::Registry(history_).get_version(
            TRY(fields.text("name")), TRY(fields.integer("version"))));
        return found.aliases.empty() && TRY(is_own(found));
    }
    // Granted by the one who submitted it.
    Result<bool> may_promote() const
    {
        const auto run = TRY(history_.get_run(TRY(RunId::parse(run_))));
        return model::may_promote(run.configuration);
    }
    Result<bool> is_own(const store::ModelVersion& found) const
    {
        if (engine::parent_of(found.tags) == run_) return true;
        if (!found.logged_model.empty() && TRY(has_model(found.logged_model))) return true;
        return !found.run.empty() && TRY(has_run(found.run));
    }
    // The run's experiment.
    Result<bool> is_in(const std::string& experiment) const
    {
        const auto found = TRY(store::Tracking(history_).get_run(run_));
        return std::to_string(found.experiment) == experiment;
    }
    // Fails when there is none.
    Result<> look_for_experiment(const Fields& fields) const
    {
        const auto id = TRY(mlflow::experiment_id(fields, "experiment_id"));
        TRY(store::Tracking(history_).get_experiment(id));
        return {};
    }
    Result<bool> has_trace(const std::string& id) const
    {
        const auto found = store::Traces(history_).get(id);
        return found && engine::parent_of(found->tags) == run_;
    }

private:
    const store::History& history_;
    std::string run_;
};

using Check = Result<bool> (*)(const Own& own, const mlflow::Found& found, const Fields& fields);

Result<bool> always(const Own&, const mlflow::Found&, const Fields&)
{
    return true;
}

// A text of its own: it has no files, and comes from no run.
Result<bool> is_prompt(const Fields& fields)
{
    if (TRY(fields.find_text("source")).value_or("") != prompt_source) return false;
    for (const auto& tag : TRY(fields.objects("tags"))) {
        if (TRY(tag.find_text("key")).value_or("") == "mlflow.prompt.is_prompt") return true;
    }
    return false;
}

// A version of what the run made, by all that it says about itself.
Result<bool> from_own(const Own& own, const mlflow::Found&, const Fields& fields)
{
    const auto run = TRY(fields.find_text("run_id")).value_or("");
    const auto model = TRY(fields.find_text("model_id")).value_or("");
    if (run.empty() && model.empty()) return is_prompt(fields);
    if (!run.empty() && !TRY(own.has_run(run))) return false;
    return model.empty() || TRY(own.has_model(model));
}

Result<bool> own_version(const Own& own, const mlflow::Found&, const Fields& fields)
{
    return own.has_version(fields);
}

Result<bool> own_name(const Own& own, const mlflow::Found&, const Fields& fields)
{
    return own.has_name(TRY(fields.text("name")));
}

Result<bool> own_unused_version(const Own& own, const mlflow::Found&, const Fields& fields)
{
    return own.has_unused_version(fields);
}

Result<bool> child_run(const Own& own, const mlflow::Found&, const Fields& fields)
{
    return own.has_child_run(TRY(fields.run_id()));
}

// What is linked is found by the run's id: nothing of the traces changes.
Result<bool> own_run(const Own& own, const mlflow::Found&, const Fields& fields)
{
    return own.has_run(TRY(fields.run_id()));
}

Result<bool> own_trace(const Own& own, const mlflow::Found& found, const Fields&)
{
    return own.has_trace(found.variables.at(0));
}

Result<bool> own_experiment(const Own& own, const mlflow::Found&, const Fields& fields)
{
    return own.is_in(TRY(fields.text("experiment_id")));
}

// Runs and models of its own experiment are made by the relay: this one is of others, if any.
Result<bool> elsewhere(const Own& own, const mlflow::Found&, const Fields& fields)
{
    TRY(own.look_for_experiment(fields));
    return false;
}

// What a run may change through us. What it logs is in its journals and needs no right.
struct RunRight {
    const char* method;
    const char* pattern;
    Check check;
};
constexpr RunRight rights[] = {
    {"POST", "/api/2.0/mlflow/experiments/set-experiment-tag", own_experiment},
    {"POST", "/api/2.0/mlflow/runs/create", elsewhere},
    {"POST", "/api/2.0/mlflow/logged-models", elsewhere},
    {"POST", create_name.data(), always},
    {"POST", "/api/2.0/mlflow/registered-models/set-tag", own_name},
    {"DELETE", "/api/2.0/mlflow/registered-models/delete-tag", own_name},
    {"PATCH", "/api/2.0/mlflow/registered-models/update", own_name},
    {"POST", create_version.data(), from_own},
    {"POST", "/api/2.0/mlflow/model-versions/set-tag", own_version},
    {"DELETE", "/api/2.0/mlflow/model-versions/delete-tag", own_version},
    {"PATCH", "/api/2.0/mlflow/model-versions/update", own_version},
    {"DELETE", "/api/2.0/mlflow/model-versions/delete", own_unused_version},
    {"POST", "/api/2.0/mlflow/runs/delete", child_run},
    {"POST", "/api/2.0/mlflow/runs/restore", child_run},
    {"POST", "/api/2.0/mlflow/traces/link-to-run", own_run},
    {"PATCH", "/api/3.0/mlflow/traces/{id}/tags", own_trace},
    {"DELETE", "/api/3.0/mlflow/traces/{id}/tags", own_trace},
    {"POST", "/api/3.0/mlflow/traces/{id}/assessments", own_trace},
    {"PATCH", "/api/3.0/mlflow/traces/{id}/assessments/{assessment}", own_trace},
    {"DELETE", "/api/3.0/mlflow/traces/{id}/assessments/{assessment}", own_trace},
};

// The tag that says whose something is. Who has a version of a name describes it, but does not make
// it its own, or another run's, by this.
bool is_about_owner(const Fields& fields)
{
    const auto key = fields.find_text("key");
    return key && *key == engine::parent_tag;
}

Check find_check(const mlflow::Route& route)
{
    for (const auto& right : rights) {
        if (std::string_view(right.method) == route.method &&
            std::string_view(right.pattern) == route.pattern)
            return right.check;
    }
    return nullptr;
}

net::Response forbidden(const net::Request& request, Permission needed)
{
    if (needed == Permission::promote) {
        return ponk::mlflow::refuse(
            403,
            "PERMISSION_DENIED",
            "A run may log and register models, but not move aliases or stages, nor rename or "
            "delete models of others. Submit the run with 'ponk submit --allow promote', or do "
            "this outside of runs with a client set up by 'ponk tracking env'.");
    }
    return ponk::mlflow::refuse(
        403,
        "PERMISSION_DENIED",
        fmt::format(
            "A run may not do this ({} /{}): it may change only its own objects and model "
            "versions. Outside of runs, a client set up by 'ponk tracking env' may do more.",
            printable(request.method),
            printable(join(request.path, "/"))));
}

std::string text_of(const net::Response& response, std::string_view body)
{
    JsonObject head{{"status", response.status}, {"type", response.type}};
    for (const auto& [name, value] : response.headers) {
        if (name == "Content-Range") head.set("range", value);
    }
    return to_json(head) + "\n" + std::string(body);
}

std::string text_of(const net::Response& response)
{
    return text_of(response, response.body);
}

net::Response too_long()
{
    return ponk::mlflow::refuse(
        501,
        ponk::mlflow::not_implemented,
        "The answer is too long for a run: request less, with 'max_results'");
}

// A search is answered page by page, and clients go on from each: true when it now asks for fewer
// than would have had `size` bytes.
bool ask_for_less(net::Request& request, std::size_t size)
{
    if (request.method != "POST" || request.path.empty() || request.path.back() != "search")
        return false;
    const auto fields = Fields::of(request);
    const auto said = fields ? fields->find_integer("max_results") : std::nullopt;
    if (!said) return false;
    constexpr std::int64_t usual = 1000;
    const auto most = said->value_or(usual);
    if (most <= 1) return false;
    const auto share = static_cast<double>(longest_answer) / static_cast<double>(size) * 0.7;
    const auto less = static_cast<std::int64_t>(static_cast<double>(most) * share);
    auto body = fields->json();
    body.as_object().set("max_results", std::clamp<std::int64_t>(less, 1, most - 1));
    request.body = to_json(body);
    return true;
}

// A file's bytes, which come without waiting.
std::string drained(net::Response response)
{
    std::string body;
    for (;;) {
        const auto step = response.stream->next(body);
        if (body.size() > longest_answer) return text_of(too_long());
        if (step == net::BodySource::Step::end) return text_of(response, body);
        if (step != net::BodySource::Step::data)
            return text_of(ponk::mlflow::refuse(
                Error(ErrorKind::damaged, "The file cannot be read completely")));
    }
}

Result<net::Request> request_of(const Json& ask)
{
    auto target = TRY(net::parse_target(ask.text("target")));
    net::Request request;
    request.method = ask.text("method");
    request.path = std::move(target.path);
    request.query = std::move(target.query);
    if (const auto type = ask.text("type"); !type.empty())
        request.headers.emplace_back("Content-Type", type);
    if (const auto range = ask.text("range"); !range.empty())
        request.headers.emplace_back("Range", range);
    request.body = ask.text("body");
    return request;
}

// A name, and a version that is of no run, say which one made them.
void sign(net::Request& request, const mlflow::Found& found, const RunId& run)
{
    if (!found.route) return;
    const bool is_version = found.route->pattern == create_version;
    if (!is_version && found.route->pattern != create_name) return;
    auto body = parse_json(request.body);
    if (!body || !body->is_object()) return;
    const auto& known = (*body)["tags"];
    JsonArray tags = known.is_array() ? known.as_array() : JsonArray();
    const auto mark = engine::child_of(run);
    std::erase_if(tags, [&mark](const Json& tag) { return tag.text("key") == mark.first; });
    if (!is_version || (body->text("run_id").empty() && body->text("model_id").empty()))
        tags.emplace_back(JsonObject{{"key", mark.first}, {"value", mark.second}});
    body->as_object().set("tags", std::move(tags));
    request.body = to_json(*body);
}

}  // namespace

Result<bool> run_may(const Services& services, const RunId& run, const net::Request& request)
{
    const auto found = mlflow::find(request);
    if (!found) return false;
    if (found->permission() == Permission::read) return true;
    const auto fields = TRY(Fields::of(request));
    const Own own(services, run);
    if (found->permission() == Permission::promote && TRY(own.may_promote())) return true;
    if (const auto check = find_check(*found->route)) {
        if (is_about_owner(fields)) return false;
        return check(own, *found, fields);
    }
    // One that is not there is not forbidden.
    if (const auto other = fields.run_id())
        TRY(store::Tracking(services.history()).get_run(*other));
    return false;
}

std::string answer_run(const Services& services, const RunId& run, const Json& ask)
{
    auto request = request_of(ask);
    if (!request) return text_of(ponk::mlflow::refuse(request.error()));
    const auto may = run_may(services, run, *request);
    if (!may) return text_of(ponk::mlflow::refuse(may.error()));
    const auto found = mlflow::find(*request).value_or(mlflow::Found());
    Audited audited(services.audit, *request);
    audited.run(run);
    audited.route("",
                  found.route != nullptr ? found.route->pattern : "",
                  found.permission(),
                  found.variables);
    if (!*may) {
        const auto refusal = forbidden(*request, found.permission());
        audited.refused(refusal);
        return text_of(refusal);
    }
    audited.counted();
    sign(*request, found, run);
    for (;;) {
        auto response = mlflow::dispatch(services, *request, found);
        audited.answered(response);
        if (response.stream) return drained(std::move(response));
        if (response.body.size() <= longest_answer) return text_of(response);
        if (!ask_for_less(*request, response.body.size())) return text_of(too_long());
    }
}

}  // namespace ponk::api
