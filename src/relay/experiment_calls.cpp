// SPDX-License-Identifier: Apache-2.0
#include "net/target.hpp"
#include "relay/calls.hpp"

#include <algorithm>

// The experiment that the run belongs to, under the names that its script has for it.
namespace ponk::relay {

namespace {

JsonObject
experiment_json(const model::Tracking& tracking, const std::string& id, const std::string& name)
{
    return {{"experiment",
             JsonObject{{"experiment_id", id},
                        {"name", name},
                        {"artifact_location", "mlflow-artifacts:/" + tracking.experiment},
                        {"lifecycle_stage", "active"},
                        {"creation_time", tracking.started},
                        {"last_update_time", tracking.started}}}};
}

ExperimentNames::Run use_of(const TrackedState& state)
{
    using Run = ExperimentNames::Run;
    if (!state.is_taken()) return Run::unused;
    return state.own().status == "RUNNING" ? Run::used : Run::ended;
}

// By who says where it is nothing is guessed. The client compares a name in its environment with
// the id that is there, too.
std::string exact_id_of(const model::Tracking& tracking,
                        const std::string& name,
                        const ClientContext& client_context)
{
    const bool own = name.empty() || name == tracking.experiment_name ||
                     (name == client_context.named && client_context.active == tracking.experiment);
    return own ? tracking.experiment : other_experiment_id(name);
}

// A run stays in its experiment, and a script that names another one logs into its run all the
// same: the run says which name that was.
Result<std::string> id_of_name(Recorder& recorder,
                               const std::string& name,
                               ExperimentNames::How how,
                               const ClientContext& client_context)
{
    const auto& tracking = recorder.tracking();
    const auto named =
        client_context.active
            ? ExperimentNames::Named{exact_id_of(tracking, name, client_context), false}
            : recorder.names().name(name, how, recorder.look(use_of));
    TRY(recorder.write([&](const TrackedState& state) -> Result<JsonArray> {
        if (named.goes_there && !state.is_taken())
            return renaming(state, name == tracking.experiment_name ? std::string() : name);
        if (named.id == tracking.experiment || state.other_names().contains(named.id))
            return JsonArray();
        return JsonArray{JsonObject{{"experiment", name}}};
    }));
    return named.id;
}

Result<Answer> show_experiment(Recorder& recorder, const Call& call)
{
    const auto id = TRY(call.fields.text("experiment_id"));
    const auto& tracking = recorder.tracking();
    if (id == tracking.experiment) {
        const auto client_context = client_context_of(call.request);
        auto name = client_context.active ? name_for(recorder, client_context, id)
                                          : recorder.names().shown();
        if (name.empty()) name = tracking.experiment_name;
        return reply(experiment_json(tracking, id, name));
    }
    const auto other = find_other_name(recorder, id);
    if (!other) return Answer();
    return reply(experiment_json(tracking, id, *other));
}

Result<Answer> find_experiment(Recorder& recorder, const Call& call)
{
    const auto name = TRY(call.fields.text("experiment_name"));
    const auto id = TRY(
        id_of_name(recorder, name, ExperimentNames::How::found, client_context_of(call.request)));
    return reply(experiment_json(recorder.tracking(), id, name));
}

Result<Answer> create_experiment(Recorder& recorder, const Call& call)
{
    const auto name = TRY(call.fields.text("name"));
    const auto id = TRY(
        id_of_name(recorder, name, ExperimentNames::How::made, client_context_of(call.request)));
    return reply({{"experiment_id", id}});
}

bool is_search(const net::Request& request)
{
    const auto& path = request.path;
    return request.method == "POST" && path.size() > 1 && path.back() == "search" &&
           path[path.size() - 2] == "runs";
}

// Where a search looks.
struct Places {
    std::size_t own = 0;             // how often the run's own id is named
    std::vector<std::string> names;  // in the experiment of the run
    std::vector<std::string> ids;    // of others
};

std::optional<Places> places_of(const Recorder& recorder, const Json& ids)
{
    if (!ids.is_array()) return std::nullopt;
    Places places;
    for (const auto& id : ids.as_array()) {
        if (!id.is_string()) return std::nullopt;
        if (id.as_string() == recorder.tracking().experiment) {
            ++places.own;
        } else if (auto name = find_other_name(recorder, id.as_string())) {
            places.names.push_back(std::move(*name));
        } else {
            places.ids.push_back(id.as_string());
        }
    }
    return places;
}

void replace_all(std::string& text, const std::string& from, const std::string& to)
{
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

}  // namespace

std::optional<std::string> find_other_name(const Recorder& recorder, const std::string& id)
{
    return recorder.look([&id](const TrackedState& state) -> std::optional<std::string> {
        const auto found = state.other_names().find(id);
        if (found == state.other_names().end()) return std::nullopt;
        return found->second;
    });
}

bool is_own_experiment(const Recorder& recorder, const std::string& id)
{
    return id == recorder.tracking().experiment || id == "0" || find_other_name(recorder, id);
}

ClientContext client_context_of(const net::Request& request)
{
    auto active = request.header("X-Ponk-Experiment");
    if (active.empty()) return {};
    ClientContext client_context{.active = std::move(active), .named = {}};
    const auto named = request.header("X-Ponk-Experiment-Name");
    const auto decoded = net::parse_target("/?name=" + named);
    if (decoded && decoded->query.size() == 1) client_context.named = decoded->query.front().second;
    return client_context;
}

std::string
name_for(const Recorder& recorder, const ClientContext& client_context, const std::string& id)
{
    if (auto other = find_other_name(recorder, id)) return std::move(*other);
    return client_context.named == recorder.tracking().experiment_name ? std::string()
                                                                       : client_context.named;
}

std::string experiment_of(const Recorder& recorder,
                          const TrackedState& state,
                          const TrackedRun& run,
                          const ClientContext& client_context)
{
    const auto& tracking = recorder.tracking();
    const bool own = run.id == tracking.run;
    const auto found = run.tags.find(other_name_tag);
    const auto name = found == run.tags.end() ? std::string() : found->second;
    if (!client_context.active) return own ? tracking.experiment : recorder.names().id_of(name);
    // It resumes the run only where it is itself.
    if (own && !state.is_taken())
        return state.other_names().contains(*client_context.active) ? *client_context.active
                                                                    : tracking.experiment;
    return exact_id_of(tracking, name, client_context);
}

JsonArray renaming(const TrackedState& state, const std::string& name)
{
    const auto& tags = state.own().tags;
    const auto known = tags.find(other_name_tag);
    if ((known == tags.end() ? std::string() : known->second) == name) return {};
    if (name.empty()) return {JsonObject{{"untag", other_name_tag}}};
    return {JsonObject{{"tag", other_name_tag}, {"value", name}}};
}

void put_own_experiment(const Recorder& recorder, std::string& target, std::string& body)
{
    const auto& own = recorder.tracking().experiment;
    recorder.look([&](const TrackedState& state) {
        for (const auto& [id, name] : state.other_names()) {
            replace_all(target, '=' + id, '=' + own);
            replace_all(body, '"' + id + '"', '"' + own + '"');
        }
    });
}

std::optional<std::string>
narrowed_search(Recorder& recorder, const net::Request& request, const Elsewhere& elsewhere)
{
    if (!is_search(request)) return std::nullopt;
    auto body = parse_json(request.body);
    if (!body || !body->is_object()) return std::nullopt;
    auto places = places_of(recorder, (*body)["experiment_ids"]);
    if (!places || (places->own == 0 && places->names.empty())) return std::nullopt;
    const auto& tracking = recorder.tracking();
    auto& names = places->names;
    // Who lists experiments and searches in all of them means the whole of each.
    const bool has_listed = places->own > 0 && !places->ids.empty();
    const auto client_context = client_context_of(request);
    if (client_context.active && places->own > 0) {
        const auto name = name_for(recorder, client_context, tracking.experiment);
        names.push_back(name.empty() ? tracking.experiment_name : name);
    } else if (places->own > 0 && !has_listed) {
        const auto page = body->text("page_token").empty() ? ExperimentNames::Page::first
                                                           : ExperimentNames::Page::next;
        for (auto& name : recorder.names().of_search(places->own, page))
            names.push_back(std::move(name));
    }
    bool everywhere = std::erase(names, tracking.experiment_name) > 0 || has_listed;
    JsonArray ids{tracking.experiment};
    for (auto& id : places->ids) {
        const auto name = everywhere ? std::nullopt : elsewhere.find_name(id);
        if (name) names.push_back(*name);
        everywhere = everywhere || !name;
        ids.emplace_back(std::move(id));
    }
    for (const auto& name : names) {
        auto id = elsewhere.find_id(name);
        if (id && std::find(ids.begin(), ids.end(), Json(*id)) == ids.end())
            ids.emplace_back(std::move(*id));
    }
    JsonObject scope;
    if (!everywhere) scope.set("names", JsonArray(names.begin(), names.end()));
    // For its script a run begins when it starts it.
    if (!recorder.look([](const TrackedState& state) { return state.is_taken(); }))
        scope.set("without", tracking.run);
    body->as_object().set("experiment_ids", std::move(ids));
    body->as_object().set("ponk_scope", std::move(scope));
    return to_json(*body);
}

std::span<const Route> experiment_calls()
{
    static constexpr Route table[] = {
        {"GET", "/api/2.0/mlflow/experiments/get", show_experiment},
        {"GET", "/api/2.0/mlflow/experiments/get-by-name", find_experiment},
        {"POST", "/api/2.0/mlflow/experiments/create", create_experiment},
    };
    return table;
}

}  // namespace ponk::relay
