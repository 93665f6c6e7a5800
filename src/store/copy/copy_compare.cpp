// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "store/copy/copy_rows.hpp"
#include "store/points/run_points.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ponk::store {

namespace {

using Difference = std::optional<std::string>;

// Points are a set in which NaN is NaN and 0 is -0.
struct Comparable {
    std::int64_t step = 0;
    std::int64_t time = 0;
    double value = 0;
    bool nan = false;
    std::string text = {};
    bool is_text = false;

    friend auto operator<=>(const Comparable&, const Comparable&) = default;
};

std::vector<Comparable> sorted(const PointColumns& points)
{
    std::vector<Comparable> all;
    all.reserve(points.size());
    for (std::size_t at = 0; at < points.size(); ++at) {
        const bool text = points.is_text(at);
        const bool nan = !text && std::isnan(points.values[at]);
        all.push_back({points.steps[at],
                       points.times[at],
                       nan || text ? 0 : points.values[at] + 0.0,
                       nan,
                       text ? points.texts[at] : std::string(),
                       text});
    }
    const auto before = [](const Comparable& a, const Comparable& b) { return a < b; };
    std::sort(all.begin(), all.end(), before);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

Result<Difference> compare_points(db::Connection& connection,
                                  const TailReader& tail,
                                  std::int64_t row,
                                  const PointsByKey& points)
{
    std::int64_t keys = 0;
    for (const auto& key : points.keys()) {
        if (key.points.empty()) continue;
        ++keys;
        PointColumns here;
        if (const auto found = TRY(find_key(connection, tail, row, key.key))) {
            TRY(read_columns(connection,
                             *found,
                             {},
                             [&here](const PointColumns& some, std::size_t from, std::size_t to) {
                                 here.append(some, from, to);
                             }));
        }
        if (sorted(here) != sorted(key.points))
            return Difference(fmt::format("points of '{}'", printable(key.key)));
    }
    if (keys != TRY(count_keys(connection, tail, row)))
        return Difference("the names of its metrics");
    return Difference();
}

Pairs in_order(Pairs pairs)
{
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

// Without what may differ between homes: its number there, and objects that only one of them has.
Json comparable_json(RunCopy copy)
{
    auto& run = copy.run;
    run.number = 0;
    run.project.clear();
    run.snapshot.clear();
    run.outputs.clear();
    run.tags = in_order(std::move(run.tags));
    return run_copy_json(copy);
}

Difference compare_tracked(const RunCopy& here, const RunCopy& there)
{
    if (here.run.name != there.run.name) return "its name";
    if (here.run.state != there.run.state) return "its state";
    if (here.run.started != there.run.started) return "the time of its start";
    if (here.run.ended != there.run.ended) return "the time of its end";
    if (here.run.user != there.run.user) return "its user";
    if ((here.deleted != 0) != (there.deleted != 0)) return "whether it is deleted";
    if (in_order(here.run.tags) != in_order(there.run.tags)) return "its tags or parameters";
    return std::nullopt;
}

Difference compare_whole(const RunCopy& here, const RunCopy& there)
{
    const auto ours = comparable_json(here);
    const auto theirs = comparable_json(there);
    for (const auto& [key, value] : theirs.as_object()) {
        if (!(ours[key] == value)) return fmt::format("'{}'", key);
    }
    if (!(events_json(here.events) == events_json(there.events))) return "its events";
    return std::nullopt;
}

// Which come first does not matter: clients are told what there is.
Json comparable_inputs(RunInputs inputs)
{
    const auto by_name = [](const DatasetInput& a, const DatasetInput& b) {
        return std::tie(a.dataset.name, a.dataset.digest) <
               std::tie(b.dataset.name, b.dataset.digest);
    };
    std::sort(inputs.datasets.begin(), inputs.datasets.end(), by_name);
    std::sort(inputs.models.begin(), inputs.models.end());
    std::sort(inputs.outputs.begin(), inputs.outputs.end(), [](const auto& a, const auto& b) {
        return a.model < b.model;
    });
    return inputs_json(inputs);
}

Json without(Json json, std::initializer_list<std::string_view> members)
{
    for (const auto member : members)
        json.as_object().erase(member);
    return json;
}

Difference first_difference(const Json& here, const Json& there)
{
    for (const auto& [key, value] : there.as_object()) {
        if (!(here[key] == value)) return fmt::format("'{}'", key);
    }
    // What has its default there is left out.
    for (const auto& [key, value] : here.as_object()) {
        if (there.as_object().find(key) == nullptr) return fmt::format("'{}'", key);
    }
    return std::nullopt;
}

}  // namespace

Result<Difference> find_difference(db::Connection& connection,
                                   const TailReader& tail,
                                   const StoredCopy& stored,
                                   const RunCopy& run)
{
    const auto found = run.depth == RunCopy::Depth::whole ? compare_whole(stored.copy, run)
                                                          : compare_tracked(stored.copy, run);
    if (found) return found;
    if (!(comparable_inputs(stored.copy.inputs) == comparable_inputs(run.inputs)))
        return Difference("its inputs or outputs");
    return compare_points(connection, tail, stored.row, run.points);
}

Difference find_difference(const ModelCopy& stored, const ModelCopy& model)
{
    // Metrics of runs that are not here were left out.
    return first_difference(without(model_copy_json(stored), {"metrics"}),
                            without(model_copy_json(model), {"metrics"}));
}

Difference find_difference(const RegisteredCopy& stored, const RegisteredCopy& registered)
{
    auto there = registered;
    for (const auto& version : there.versions)
        there.last_version = std::max(there.last_version, version.version);
    return first_difference(registered_json(stored), registered_json(there));
}

}  // namespace ponk::store
