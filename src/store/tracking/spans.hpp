// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::store {

class History;

struct Span {
    std::string id = {};
    std::optional<std::string> parent = std::nullopt;
    std::string name = {};
    std::string type = {};
    std::string status = {};  // OK, ERROR, UNSET
    std::int64_t began = 0;   // nanoseconds since 1970
    std::optional<std::int64_t> ended = std::nullopt;
    std::string content = {};  // JSON, kept as it is
    // What it says of the model that it called.
    std::optional<std::string> model = std::nullopt;
    std::optional<std::string> provider = std::nullopt;
    std::optional<double> input_cost = std::nullopt;
    std::optional<double> output_cost = std::nullopt;
    std::optional<double> total_cost = std::nullopt;
};

// Spans that came together, and what they say of their trace.
struct LoggedSpans {
    std::string trace = {};
    std::vector<Span> spans = {};
    Pairs tags = {};
    std::optional<std::string> request = std::nullopt;  // where the trace has none yet
    std::optional<std::string> response = std::nullopt;
};

// Of one trace.
inline constexpr std::int64_t most_stored_spans = 10'000;
inline constexpr std::int64_t most_span_bytes = std::int64_t{16} << 20;

// The tag by which clients see that spans are here, and not a file of the trace.
inline constexpr std::string_view spans_location_tag = "mlflow.trace.spansLocation";
inline constexpr std::string_view spans_are_here = "TRACKING_STORE";

// Spans of traces that clients send while the trace goes on. Safe to call from any thread; every
// write is durable on return, and of a call that fails nothing was stored.
class Spans {
public:
    explicit Spans(const History& history) : history_(history) {}

    // A trace that is not there is made, in this experiment. One that is there lasts as long as its
    // spans do, and ends with its root. With a run, as Traces::link_to_run.
    Result<> add(std::int64_t experiment,
                 const std::vector<LoggedSpans>& logged,
                 const std::optional<std::string>& run = std::nullopt);
    // What `content` of each is, the root first, then by their beginnings; none: they are not here.
    Result<std::vector<std::string>> contents(const std::string& trace) const;

private:
    const History& history_;
};

}  // namespace ponk::store
