// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace ponk::secrets {

// Every text under which `value` may appear in a log: itself, its base64 in both alphabets as it
// looks at any place of what was encoded, and its percent-encoded forms. None for a value that is
// shorter than `shortest_redacted`.
std::set<std::string> redaction_forms(std::string_view value);

}  // namespace ponk::secrets
