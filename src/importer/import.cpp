// SPDX-License-Identifier: Apache-2.0
#include "importer/import.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "base/work_budget.hpp"
#include "importer/artifact_places.hpp"
#include "importer/copy_limits.hpp"
#include "importer/mlflow_words.hpp"
#include "store/history/history.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::importer {

namespace {

// What history would not take from anybody else is not stored either.
template <class Put, class Copy>
std::invoke_result_t<Put> put_checked(const Copy& copy, const Put& put)
{
    TRY(check_limits(copy));
    return put();
}

std::string without_slash(std::string text)
{
    while (text.ends_with('/'))
        text.pop_back();
    return text;
}

// Refused because of what it is or what is here; every other error is ours to fix, and ends the
// import.
bool is_refusal(const Error& error)
{
    return error.kind() == ErrorKind::conflict || error.kind() == ErrorKind::invalid_argument;
}

// Advice on a damaged database is for our own.
Error of_source(const Error& error)
{
    if (error.kind() != ErrorKind::damaged) return error;
    return Error(ErrorKind::invalid_argument,
                 error.message(),
                 "The source was not changed. Runs before the damage are imported; import an "
                 "intact copy to get the rest.");
}

}  // namespace

Import::Import(Destination destination,
               Options options,
               Format format,
               std::unique_ptr<Source> source)
    : destination_(std::move(destination)), options_(std::move(options)), format_(format),
      source_(std::move(source)), copies_(destination_.history, options_.mode)
{
}

Result<std::unique_ptr<Import>> Import::open(Destination destination, Options options)
{
    const auto format = options.format ? *options.format : TRY(recognise(options.path));
    auto source = TRY(open_source(options.path, format, options.artifacts).map_error(of_source));
    return std::unique_ptr<Import>(
        new Import(std::move(destination), std::move(options), format, std::move(source)));
}

Result<bool> Import::step()
{
    // One run is one step, however large it is: it ends neither with a deadline nor halfway.
    const WorkScope whole(nullptr);
    if (copying_) {
        if (!TRY(copying_->step())) copying_.reset();
        return true;
    }
    auto item = TRY(source_->next().map_error(of_source));
    if (!item) {
        for (const auto& [name, other] : options_.experiments) {
            if (!renamed_.contains(name))
                report_.leave_out(printable(options_.path.native()),
                                  fmt::format("'{}={}': it has no experiment '{}'",
                                              printable(name),
                                              printable(other),
                                              printable(name)));
        }
        TRY(copies_.finish());
        return false;
    }
    TRY(take(std::move(*item)));
    return true;
}

Result<> Import::take(Item item)
{
    const auto where = std::move(item.where);
    if (auto* experiment = std::get_if<ExperimentItem>(&item.what))
        return take(where, std::move(*experiment));
    if (auto* run = std::get_if<RunItem>(&item.what)) return take(where, std::move(*run));
    if (auto* model = std::get_if<ModelItem>(&item.what)) return take(where, std::move(*model));
    if (auto* registered = std::get_if<RegisteredItem>(&item.what))
        return take(where, std::move(*registered));
    auto& left = std::get<LeftOut>(item.what);
    if (left.severity == LeftOut::Severity::note) {
        report_.leave_out(where, std::move(left.why));
    } else {
        report_.complain(where, std::move(left.why));
    }
    return {};
}

// Files that come here are ours from now on; others stay where they are.
bool Import::comes_here(const std::string& location) const
{
    return format_ != Format::lines && (options_.artifacts || ArtifactPlaces::is_local(location));
}

Result<> Import::take(const std::string& where, ExperimentItem item)
{
    auto& copy = item.copy;
    ++report_.experiments.found;
    const auto told = without_slash(copy.location);
    const auto there = copy.id;
    if (const auto other = options_.experiments.find(copy.name);
        other != options_.experiments.end()) {
        renamed_.insert(copy.name);
        copy.name = other->second;
        copy.kind = store::ExperimentCopy::Kind::client;
        copy.project.clear();
        copy.id = 0;
    }
    if (comes_here(copy.location)) copy.location.clear();
    auto place = put_checked(copy, [&] { return copies_.put(copy); });
    if (!place && is_refusal(place.error())) {
        ++report_.experiments.refused;
        report_.complain(where, place.error().message());
        places_[item.key] = std::nullopt;
        return {};
    }
    auto known = TRY(std::move(place));
    ++(known.outcome == Outcome::added ? report_.experiments.added : report_.experiments.same);
    for (const auto& note : known.notes)
        report_.leave_out(where, note);
    if (known.location.empty()) {
        const auto here = store::artifact_location(known.id, {});
        // What was sent to its server, or is in the store that our lines come from.
        if (told.empty() || told.starts_with("mlflow-artifacts:"))
            moved_[without_slash(store::artifact_location(there, told))] = here;
    }
    places_[item.key] = std::move(known);
    return {};
}

const Import::Place* Import::place_of(const std::string& where, const ExperimentKey& key)
{
    const auto found = places_.find(key);
    if (found != places_.end() && found->second) return &*found->second;
    report_.complain(where,
                     found == places_.end() ? "it belongs to no experiment"
                                            : "its experiment was not imported");
    return nullptr;
}

Result<bool> Import::count(Tally& tally, const std::string& where, const Result<Outcome>& outcome)
{
    if (outcome) {
        ++(*outcome == Outcome::added ? tally.added : tally.same);
        return true;
    }
    if (!is_refusal(outcome.error())) return tl::unexpected(outcome.error());
    ++tally.refused;
    report_.complain(where, outcome.error().message());
    return false;
}

Result<> Import::take(const std::string& where, RunItem item)
{
    ++report_.runs.found;
    const auto* place = place_of(where, item.experiment);
    if (place == nullptr) return {};
    auto& run = item.copy.run;
    for (auto* digest : {&run.snapshot, &run.outputs}) {
        if (!digest->empty() && !destination_.has_object(*digest)) digest->clear();
    }
    if (item.copy.depth == store::RunCopy::Depth::tracked && item.copy.events.empty())
        item.copy.events.push_back(
            {1, wall_milliseconds(), "notice", fmt::format("imported from {}", where)});
    const auto points = item.copy.points.size();
    const auto outcome = put_checked(item.copy, [&] { return copies_.put(place->id, item.copy); });
    if (!TRY(count(report_.runs, where, outcome))) return {};
    if (*outcome == Outcome::added) report_.points += points;
    const auto inside = fmt::format("{}/artifacts", run.id.text());
    note_move(*place, item.location, inside);
    return take_files(where, *place, inside, std::move(item.files));
}

Result<> Import::take(const std::string& where, ModelItem item)
{
    ++report_.models.found;
    const auto* place = place_of(where, item.experiment);
    if (place == nullptr) return {};
    auto& model = item.copy.model;
    if (!is_model_id(model.id)) {
        ++report_.models.refused;
        report_.complain(where, fmt::format("'{}' is not a model id", printable(model.id)));
        return {};
    }
    const auto told = model.location;
    model.experiment = place->id;
    if (place->location.empty() && comes_here(told)) model.location.clear();
    std::size_t left_out = 0;
    const auto outcome = put_checked(item.copy, [&] { return copies_.put(item.copy, left_out); });
    if (!TRY(count(report_.models, where, outcome))) return {};
    if (left_out > 0)
        report_.leave_out(where,
                          fmt::format("{} of its values: their runs are not here", left_out));
    const auto inside = fmt::format("models/{}/artifacts", model.id);
    note_move(*place, told, inside);
    return take_files(where, *place, inside, std::move(item.files));
}

Result<> Import::take(const std::string& where, RegisteredItem item)
{
    ++report_.registered.found;
    for (auto& version : item.copy.versions)
        version.location = location_here(version.location);
    const auto outcome = put_checked(item.copy, [&] { return copies_.put(item.copy); });
    static_cast<void>(TRY(count(report_.registered, where, outcome)));
    return {};
}

Result<> Import::take_files(const std::string& where,
                            const Place& place,
                            const std::string& inside,
                            Files files)
{
    if (!files.why.empty()) report_.leave_out(where, files.why);
    if (!files.folder) return {};
    if (!place.location.empty()) {
        report_.leave_out(where,
                          fmt::format("its files: those of its experiment are kept in '{}'",
                                      printable(place.location)));
        return {};
    }
    const bool look = options_.mode == store::Copies::Mode::look;
    const auto path = fmt::format("{}/{}", look ? 0 : place.id, inside);
    copying_.emplace(destination_.files,
                     TRY(store::ArtifactPath::parse(path)),
                     std::move(files),
                     look ? ArtifactCopy::Mode::look : ArtifactCopy::Mode::store,
                     report_);
    return {};
}

// Files of it are ours from now on, whether they are here already or come later.
void Import::note_move(const Place& place, const std::string& location, const std::string& inside)
{
    if (location.empty() || !place.location.empty() || !comes_here(location)) return;
    moved_[without_slash(location)] =
        fmt::format("{}{}/{}", store::artifact_root, place.id, inside);
}

// Where files are now that were at `location`, or below it; unchanged when they did not come.
std::string Import::location_here(const std::string& location) const
{
    for (auto end = location.size(); end != std::string::npos && end > 0;
         end = location.rfind('/', end - 1)) {
        const auto known = moved_.find(location.substr(0, end));
        if (known != moved_.end()) return known->second + location.substr(end);
    }
    return location;
}

}  // namespace ponk::importer
