// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/artifacts/artifact_place.hpp"

#include "base/text.hpp"
#include "engine/files/live_files.hpp"
#include "engine/tracked/child_of.hpp"
#include "store/models/models.hpp"
#include "store/tracking/traces.hpp"
#include "store/tracking/tracking.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

using store::ArtifactPath;
using Entries = std::optional<std::vector<store::ArtifactFolder::Entry>>;

using Owner = ArtifactPlace::Owner;

constexpr std::string_view folder_name = "artifacts";
constexpr std::string_view scheme = "mlflow-artifacts:/";
constexpr std::string_view run_scheme = "runs:/";
constexpr std::string_view shared_name = ".shared";

tl::unexpected<Error> no_place(const ArtifactPath& path)
{
    return fail(ErrorKind::invalid_argument,
                "Invalid path '{}': artifacts of an experiment are below EXPERIMENT/RUN/artifacts, "
                "EXPERIMENT/models/MODEL/artifacts and EXPERIMENT/traces/TRACE/artifacts; a path "
                "that belongs to none begins with a name that is not a number",
                printable(path.text()));
}

tl::unexpected<Error> no_run(std::string_view id)
{
    return fail(ErrorKind::not_found, "Run with id={} not found", printable(id));
}

ArtifactPath folder_of_run(std::int64_t experiment, const RunId& id)
{
    return engine::client_folder(experiment, id) /
           ArtifactPath::parse(folder_name).value_or(ArtifactPath());
}

// Chosen by a client, and in this store.
bool is_own(std::string_view location)
{
    return location.starts_with(scheme) && !location.substr(scheme.size()).starts_with('/');
}

// The folder of an experiment, or what somebody could take for one.
bool is_number(std::string_view name)
{
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

ArtifactPlace run_place(const RunId& id, const store::RunPlace& place, ArtifactPath inside)
{
    return {Owner::run,
            id.text(),
            place.deleted,
            {},
            folder_of_run(place.experiment, id),
            std::move(inside),
            place.location.empty()
                ? std::string()
                : store::below_location(place.location, id.text() + "/artifacts")};
}

// Of models and traces. Deleted ones stay to be read.
Result<ArtifactPlace>
find_other(const Services& services, Owner owner, const std::string& id, ArtifactPath inside)
{
    std::int64_t experiment = 0;
    std::string maker;
    std::string address;
    bool deleted = false;
    if (owner == Owner::trace) {
        const auto trace = TRY(store::Traces(services.history()).get(id));
        experiment = trace.experiment;
        maker = engine::parent_of(trace.tags);
        for (const auto& [key, value] : trace.tags) {
            if (key == store::artifact_location_tag) address = value;
        }
    } else {
        const store::Models models(services.history());
        const auto model = TRY(models.get(id, store::Models::Deleted::include));
        experiment = model.experiment;
        maker = engine::parent_of(model.tags);
        address = model.location;
        deleted = !models.get(id);
    }
    const auto home = TRY(store::Tracking(services.history()).get_experiment(experiment));
    auto root = TRY(ArtifactPath::parse(fmt::format(
        "{}/{}/{}/{}", experiment, owner == Owner::model ? "models" : "traces", id, folder_name)));
    return ArtifactPlace{owner,
                         id,
                         deleted || home.deleted,
                         std::move(maker),
                         std::move(root),
                         std::move(inside),
                         std::move(address)};
}

// Whether the first `count` names are the owner's address.
bool is_at(const ArtifactPlace& place, const ArtifactPath& path, std::size_t count)
{
    if (!is_own(place.chosen)) return false;
    const auto address = ArtifactPath::parse(std::string_view(place.chosen).substr(scheme.size()));
    return address && *address == path.first(count);
}

// An owner whose experiment has chosen its location in this store.
Result<std::optional<ArtifactPlace>> find_by_location(const Services& services,
                                                      const ArtifactPath& path)
{
    const auto& names = path.names();
    for (std::size_t at = 1; at < names.size(); ++at) {
        if (names[at] != folder_name) continue;
        const auto& id = names[at - 1];
        for (const auto owner : {Owner::model, Owner::trace}) {
            if (at < 2 || names[at - 2] != (owner == Owner::model ? "models" : "traces")) continue;
            auto place = find_other(services, owner, id, path.below(at + 1));
            // What looks like an id is meant to be one.
            if (!place && id.starts_with(owner == Owner::model ? "m-" : "tr-"))
                return tl::unexpected(place.error());
            if (place && is_at(*place, path, at + 1)) return std::optional(std::move(*place));
        }
        const auto run = RunId::parse(id);
        if (!run) continue;
        const auto found = TRY(store::Tracking(services.history()).find_place(*run));
        if (!found) return no_run(id);
        auto place = run_place(*run, *found, path.below(at + 1));
        if (!is_at(place, path, at + 1)) return no_place(path);
        return std::optional(std::move(place));
    }
    return std::optional<ArtifactPlace>();
}

Result<engine::RunFiles> files_of(const Services& services, const ArtifactPlace& place)
{
    const auto run = TRY(services.history().get_run(TRY(RunId::parse(place.id))));
    return engine::RunFiles::of(services.context(), run);
}

// What a run logged for a model or a trace that its script made.
Result<std::optional<engine::MadeFiles>> child_files_of(const Services& services,
                                                        const ArtifactPlace& place)
{
    if (place.maker.empty()) return std::optional<engine::MadeFiles>();
    return engine::MadeFiles::of(services.context(),
                                 place.maker,
                                 place.owner == Owner::model ? engine::child_models_folder
                                                             : engine::child_traces_folder,
                                 place.id);
}

}  // namespace

std::string ArtifactPlace::root_uri() const
{
    return chosen.empty() ? std::string(scheme) + root.text() : chosen;
}

Result<ArtifactPlace> find_place(const Services& services, const ArtifactPath& path)
{
    const auto& names = path.names();
    if (names.empty() || names[0].starts_with('.')) return no_place(path);
    if (!is_number(names[0])) {
        if (auto owned = TRY(find_by_location(services, path))) return std::move(*owned);
        auto root = TRY(ArtifactPath::parse(shared_name));
        return ArtifactPlace{Owner::nobody, {}, false, {}, std::move(root), path};
    }
    const auto experiment = parse_integer(names[0]);
    if (!experiment || std::to_string(*experiment) != names[0]) return no_place(path);
    if (names.size() >= 4 && names[3] == folder_name &&
        (names[1] == "models" || names[1] == "traces")) {
        const auto owner = names[1] == "models" ? Owner::model : Owner::trace;
        auto place = TRY(find_other(services, owner, names[2], path.below(4)));
        if (place.root == path.first(4)) return place;
        return fail(
            ErrorKind::not_found, "'{}' is not in experiment {}", printable(names[2]), *experiment);
    }
    if (names.size() < 3 || names[2] != folder_name) return no_place(path);
    const auto id = RunId::parse(names[1]);
    const auto place = id ? TRY(store::Tracking(services.history()).find_place(*id)) : std::nullopt;
    if (!place || place->experiment != *experiment) return no_run(names[1]);
    return run_place(*id, *place, path.below(3));
}

Result<ArtifactPlace>
place_at(const Services& services, std::string_view location, const ArtifactPath& inside)
{
    if (location.starts_with(run_scheme)) {
        const auto path = TRY(ArtifactPath::parse(location.substr(run_scheme.size())));
        if (path.is_root()) return no_run("");
        return place_in_run(services, path.names().front(), path.below(1) / inside);
    }
    if (!location.starts_with(scheme)) {
        return fail(ErrorKind::invalid_argument,
                    "The artifacts are at '{}', which this server does not open",
                    printable(location));
    }
    const auto root = TRY(ArtifactPath::parse(location.substr(scheme.size())));
    return find_place(services, root / inside);
}

Result<ArtifactPlace>
place_in_run(const Services& services, const std::string& run, const ArtifactPath& inside)
{
    const auto id = RunId::parse(run);
    const auto place = id ? TRY(store::Tracking(services.history()).find_place(*id)) : std::nullopt;
    if (!place) return no_run(run);
    if (!place->location.empty() && !is_own(place->location)) {
        return fail(ErrorKind::invalid_argument,
                    "The artifacts of run '{}' are at '{}', which this server does not open",
                    id->text(),
                    printable(place->location));
    }
    return run_place(*id, *place, inside);
}

Result<> check_own_location(std::string_view location)
{
    const auto path = is_own(location) && location.find('?') == std::string_view::npos
                          ? ArtifactPath::parse(location.substr(scheme.size()))
                          : Result<ArtifactPath>(no_place(ArtifactPath()));
    if (path && (path->is_root() || !is_number(path->names().front()))) return {};
    return fail(
        ErrorKind::invalid_argument,
        "'{}' cannot be the place of an experiment in this store: it is 'mlflow-artifacts:/'"
        " and names, of which the first is not a number",
        printable(location));
}

Result<> check_writable(const ArtifactPlace& place)
{
    if (!place.deleted) return {};
    const auto* what = place.owner == Owner::run     ? "run"
                       : place.owner == Owner::model ? "model"
                                                     : "trace";
    return fail(ErrorKind::invalid_argument,
                "The {} {} must be in the 'active' state. Current state is deleted.",
                what,
                place.id);
}

Result<> check_free(const Services& services, const ArtifactPlace& place)
{
    const auto& names = place.inside.names();
    if (place.owner != Owner::run || names.empty() || names.front() != engine::outputs_name ||
        !TRY(files_of(services, place)).has_collected())
        return {};
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'{}' cannot be logged: '{}' has what the script of the run wrote",
                          printable(place.inside.text()),
                          engine::outputs_name),
              "Log it below another name."));
}

Result<Entries> list_place(const Services& services, const ArtifactPlace& place)
{
    if (place.owner == Owner::run) return TRY(files_of(services, place)).list(place.inside);
    auto listed = TRY(engine::client_files(services.context()).list(place.full()));
    if (listed) return listed;
    if (const auto made = TRY(child_files_of(services, place))) return made->list(place.inside);
    return listed;
}

Result<engine::OpenFile> open_place(const Services& services, const ArtifactPlace& place)
{
    if (place.owner == Owner::run) return TRY(files_of(services, place)).open(place.inside);
    auto found = TRY(engine::client_files(services.context()).find(place.full()));
    using Kind = store::ArtifactFolder::Found::Kind;
    if (found.kind == Kind::file) return engine::open_stored(std::move(found.file));
    if (found.kind == Kind::folder)
        return fail(
            ErrorKind::invalid_argument, "'{}' is a folder", printable(place.inside.text()));
    if (const auto made = TRY(child_files_of(services, place))) return made->open(place.inside);
    return fail(ErrorKind::not_found, "No such artifact: '{}'", printable(place.inside.text()));
}

Result<> remove_place(const Services& services, const ArtifactPlace& place)
{
    const auto folder = engine::client_files(services.context());
    using Kind = store::ArtifactFolder::Found::Kind;
    const auto kind = TRY(folder.find(place.full())).kind;
    const bool logged = kind == Kind::file || kind == Kind::folder;
    if (!logged && place.owner == Owner::run && !place.inside.is_root()) {
        const auto files = TRY(files_of(services, place));
        // Of others, what is there now came after we looked.
        if (files.has_collected() && (files.open(place.inside) || TRY(files.list(place.inside)))) {
            return fail(ErrorKind::invalid_argument,
                        "'{}' is an output of the run and cannot be deleted before the run",
                        printable(place.inside.text()));
        }
    }
    return folder.remove(place.full());
}

}  // namespace ponk::api::mlflow
