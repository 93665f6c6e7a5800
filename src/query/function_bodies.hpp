// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/functions.hpp"

// The built-in functions, under the names of the specification. Each may rely on the kinds that
// its row in functions.cpp asks for.
namespace ponk::query::body {

Result<Value> abs(Call& call);
Result<Value> avg(Call& call);
Result<Value> ceil(Call& call);
Result<Value> contains(Call& call);
Result<Value> ends_with(Call& call);
Result<Value> floor(Call& call);
Result<Value> join(Call& call);
Result<Value> keys(Call& call);
Result<Value> length(Call& call);
Result<Value> map(Call& call);
Result<Value> max(Call& call);
Result<Value> max_by(Call& call);
Result<Value> merge(Call& call);
Result<Value> min(Call& call);
Result<Value> min_by(Call& call);
Result<Value> not_null(Call& call);
Result<Value> reverse(Call& call);
Result<Value> sort(Call& call);
Result<Value> sort_by(Call& call);
Result<Value> starts_with(Call& call);
Result<Value> sum(Call& call);
Result<Value> to_array(Call& call);
Result<Value> to_number(Call& call);
Result<Value> to_string(Call& call);
Result<Value> type(Call& call);
Result<Value> values(Call& call);

}  // namespace ponk::query::body
