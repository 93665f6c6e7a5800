// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/otlp.hpp"
#include "store/tracking/spans.hpp"

#include <vector>

namespace ponk::api::mlflow {

// All traces of one request have at most so many tags together.
inline constexpr std::size_t most_request_tags = 100'000;
inline constexpr std::size_t most_request_tag_bytes = std::size_t{16} << 20;

// What is stored of spans, by their traces. Attributes of what sent them are tags of the traces.
Result<std::vector<store::LoggedSpans>> logged_spans(std::vector<ponk::mlflow::OtlpSpan> spans);

}  // namespace ponk::api::mlflow
