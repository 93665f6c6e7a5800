// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "mlflow/otlp.hpp"

#include <string>
#include <string_view>

namespace ponk::mlflow {

// "tr-…", as clients call a trace whose id they have from OpenTelemetry.
std::string trace_id_of(const OtlpSpan& span);

// A span as files of traces have it: attributes are texts of JSON, ids are base64.
Json span_content(OtlpSpan span);
// The same as protocol buffers are written in JSON, which is what clients read. What it makes is
// charged to the answer.
Result<Json> span_message(const Json& content);

// What the text of an attribute says; absent is null.
Json attribute_of(const Json& content, std::string_view key);

}  // namespace ponk::mlflow
