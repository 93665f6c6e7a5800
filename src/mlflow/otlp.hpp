// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// Spans of traces, as OpenTelemetry's protocol sends them (ExportTraceServiceRequest) and as
// MLflow's clients read them: src/mlflow/spans.hpp.
namespace ponk::mlflow {

struct OtlpSpan {
    std::string trace;  // 32 hex digits
    std::string id;     // 16 hex digits
    std::string parent = {};
    std::string name = {};
    std::int64_t began = 0;  // nanoseconds since 1970
    std::int64_t ended = 0;  // 0: it has not
    enum class Status { unset, ok, error } status = Status::unset;
    std::string message = {};
    JsonObject attributes = {};
    JsonArray events = {};  // {"name", "time_unix_nano", "attributes"}
    JsonArray links = {};   // {"trace_id", "span_id", "attributes"}, in hex digits
    // What sent it; never null, and one for all spans that came with it.
    std::shared_ptr<const JsonObject> resource = {};
};

// Of one request.
inline constexpr std::size_t most_spans = 10'000;
// Of what sent some of its spans.
inline constexpr std::size_t most_resource_attributes = 256;
inline constexpr std::size_t most_resource_bytes = std::size_t{64} << 10;

// `invalid_argument` for what is no such request, and for more than a request may hold.
Result<std::vector<OtlpSpan>> read_otlp(std::string_view bytes);
// The same of a request in JSON.
Result<std::vector<OtlpSpan>> read_otlp_json(std::string_view text);

}  // namespace ponk::mlflow
