// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "model/tracking.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace ponk::relay {

// Says under which name the script knows the run's experiment.
inline constexpr const char* other_name_tag = "ponk.experiment_name";

using Texts = std::map<std::string, std::string, std::less<>>;

struct Point {
    double value = 0;
    std::int64_t time = 0;
    std::int64_t step = 0;
};
// Bit by bit: NaN is the same as NaN.
bool is_same(const Point& left, const Point& right);

// The model and the data that a point is about; often empty.
struct Subject {
    std::string model;
    std::string dataset_name;
    std::string dataset_digest;

    bool operator==(const Subject&) const = default;
};

struct Series {
    Point latest;  // by step, time and value
    // As it came: a client that did not hear our answer sends it again. About another model it is
    // another one.
    Point last;
    Subject last_subject;
};

// A run as MLflow's clients see it: the one that we serve, or one that its script made.
struct TrackedRun {
    std::string id;
    std::string name;
    std::string user;
    std::string status = "RUNNING";
    std::int64_t started = 0;
    std::int64_t ended = 0;
    bool deleted = false;
    Texts params;
    Texts tags;
    std::map<std::string, Series, std::less<>> metrics;
    JsonArray datasets;  // {"dataset": …, "tags": […]}, as clients send them
    std::set<std::string> model_inputs;
    std::map<std::string, std::int64_t> model_outputs;  // id and step
};

struct TrackedModel {
    std::string id;
    std::string name;
    std::string type;
    std::string run;
    std::string status = "LOGGED_MODEL_PENDING";
    std::string status_message;
    std::int64_t created = 0;
    std::int64_t updated = 0;
    Texts params;
    Texts tags;
    // The latest of each run and dataset: [metric, run, name and digest of the dataset].
    std::map<std::array<std::string, 4>, Point> metrics;
};

// What the relay's journals say, folded into what clients ask for. Everything changes through
// `apply`, so a relay that is restarted and reads the records again knows the same. Size: that
// of the names and latest values, however many points there are. Not shared between threads.
class TrackedState {
public:
    explicit TrackedState(const model::Tracking& tracking);

    // A record's payload; one of another kind changes nothing.
    void apply(const Json& record);

    [[nodiscard]] const TrackedRun& own() const { return own_; }
    // True once the script has used the run that it is part of.
    [[nodiscard]] bool is_taken() const noexcept { return taken_; }
    [[nodiscard]] const TrackedRun* find_run(std::string_view id) const;
    [[nodiscard]] const TrackedModel* find_model(std::string_view id) const;
    [[nodiscard]] const std::map<std::string, TrackedModel, std::less<>>& models() const
    {
        return models_;
    }

    // Other names of the run's experiment, by the ids that clients were told.
    [[nodiscard]] const Texts& other_names() const { return other_names_; }
    [[nodiscard]] bool has_trace(std::string_view id) const { return traces_.contains(id); }

private:
    void apply_to(TrackedRun& run, const Json& record);
    void apply_model(const Json& record);
    void add_point(TrackedRun& run, const Json& record);

    TrackedRun own_;
    bool taken_ = false;
    std::map<std::string, TrackedRun, std::less<>> others_;
    std::map<std::string, TrackedModel, std::less<>> models_;
    std::set<std::string, std::less<>> traces_;
    Texts other_names_;
};

}  // namespace ponk::relay
