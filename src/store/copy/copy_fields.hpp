// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "store/rows/tracked_rows.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Members of the lines that copies travel in. One that is not there is empty, 0 or false; one of
// another kind is an `invalid_argument` that names it.
namespace ponk::store {

tl::unexpected<Error> wrong(std::string_view member, std::string_view wanted);

Json pairs_json(const Pairs& pairs);
Result<Pairs> pairs_of(const Json& json, std::string_view member);

Json optional_text(const std::optional<std::string>& text);
Result<std::optional<std::string>> optional_text_of(const Json& json, std::string_view member);

Result<std::string> text_of(const Json& json, std::string_view member);
Result<std::vector<std::string>> texts_of(const Json& json, std::string_view member);
Result<std::int64_t> integer_of(const Json& json, std::string_view member);
Result<bool> flag_of(const Json& json, std::string_view member, bool otherwise = false);

}  // namespace ponk::store
