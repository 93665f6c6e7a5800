// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/schema/schema.hpp"

namespace ponk::config {

// Reports `member`, which `schema` does not have: a key in another case or nearly spelt like one of
// the schema is an error with the right spelling (its value would be lost without a word); a key of
// another file is an error that names the file; anything else is a warning.
void report_unknown_key(const Schema& schema,
                        const Node& map,
                        const Member& member,
                        Report& report);

}  // namespace ponk::config
