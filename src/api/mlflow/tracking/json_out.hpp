// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run.hpp"
#include "net/message.hpp"
#include "store/tracking/tracking.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// Answers with many things in them are written as text at once: as values they would take many
// times the room.
namespace ponk::api::mlflow {

void append_text(std::string& out, std::string_view text);
// The shortest form; NaN and infinities as texts.
void append_number(std::string& out, double number);
void append_integer(std::string& out, std::int64_t number);
// `,"name":`, without the comma behind an opening bracket.
void append_name(std::string& out, std::string_view name);

// {"key", "value", "timestamp", "step"}, and "run_id" when one is given.
void append_metric(std::string& out,
                   const model::MetricPoint& point,
                   std::string_view run_id = std::string_view());
void append_experiment(std::string& out, const store::Experiment& experiment);
void append_run_info(std::string& out, const store::TrackedRun& run);
void append_run(std::string& out, const store::TrackedRun& run);

// With a line end behind it, as all answers have.
net::Response text_reply(std::string json);

}  // namespace ponk::api::mlflow
