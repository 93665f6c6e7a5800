// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mlflow/fields.hpp"
#include "query/search/grammar.hpp"
#include "store/models/registry.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// What names, versions, stages and aliases of the registry may be.
namespace ponk::api::mlflow {

using ponk::mlflow::Fields;

Result<std::string> model_name_of(const Fields& fields, std::string_view field = "name");
// A number that travels as a text.
Result<std::int64_t> version_of(const Fields& fields);
// "production" is "Production".
Result<std::string> parse_stage(std::string_view text);
Result<std::string> alias_of(const Fields& fields);
// Besides, it is none that means something already: "latest", "v1".
Result<std::string> new_alias_of(const Fields& fields);

// The list "tags"; and one tag of "key" and "value".
Result<store::Pairs> registry_tags_of(const Fields& fields);
Result<std::string> registry_tag_value_of(const Fields& fields);

// Filter, order and page of a search; `otherwise` and `most` bound its page.
Result<store::RegistrySearch> registry_search_of(const Fields& fields,
                                                 const query::search::Grammar& grammar,
                                                 std::int64_t otherwise,
                                                 std::int64_t most);

}  // namespace ponk::api::mlflow
