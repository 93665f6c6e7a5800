// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "model/run.hpp"

#include <string>
#include <string_view>

namespace ponk::model {

// Parameters of a run are stored as tags whose key starts with this; whoever shows a run parts
// them again.
inline constexpr std::string_view parameter_prefix = "param.";

// A client may call a tag what a parameter is stored as. Such a tag is stored behind this mark,
// which no client can send.
inline constexpr char tag_mark = '\x1f';
std::string stored_tag(std::string_view key);
std::string_view shown_tag(std::string_view stored);

// What a person wrote about a run afterwards, under the name that clients of MLflow know.
inline constexpr std::string_view note_tag = "mlflow.note.content";

// What the script said it was started with: {"lr": "0.1"}.
Json params_json(const Run& run);
// All other tags.
Json tags_json(const Run& run);

// The type of target of a run that a client of the tracking API made: nobody here executes it.
inline constexpr std::string_view client_target = "client";

// Metrics that ponk measures for a run begin with this; the script's own are apart from them.
inline constexpr std::string_view system_prefix = "system/";

inline constexpr std::string_view gpu_not_requested = "not-requested";
// Whether the run used its GPUs: "confirmed", …; "unknown" as long as nothing was judged.
std::string gpu_verdict(const Run& run);
// The same for who polls: null as long as that may change.
Json gpu_verdict_json(const Run& run);
// All else about its GPUs; null when none were asked for.
Json gpu_evidence_json(const Run& run);

}  // namespace ponk::model
