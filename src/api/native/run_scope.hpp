// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/records.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ponk::api {

// A field of a request by its name, as text.
using FindField = std::function<std::optional<std::string>(std::string_view name)>;

// Which runs a request is about: project, state, script, target, gpu, hidden, limit.
Result<store::RunFilter> run_scope(const FindField& find);

}  // namespace ponk::api
