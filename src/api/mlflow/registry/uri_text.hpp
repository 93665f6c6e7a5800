// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::api::mlflow {

// A place as clients write one, taken apart as text. The query is cut off as it was written; then
// all escapes are resolved, also those inside of others, so that no part means something else to a
// reader who decodes once more.
struct UriText {
    std::string scheme;     // lower case; empty: a path
    std::string authority;  // "bucket"
    std::string path;
    std::vector<std::string> segments;  // of the path, without empty ones
    // Somewhere, the query included, is "..", a backslash or a zero byte. A reader who decodes
    // first and cuts afterwards has another path than we.
    bool may_lead_elsewhere = false;

    // A path of some machine.
    [[nodiscard]] bool is_local() const { return scheme.empty() || scheme == "file"; }
    // The path begins at the root and no part of it leads elsewhere.
    [[nodiscard]] bool is_absolute() const;
    // Whether it is `root` or below it.
    [[nodiscard]] bool is_within(const UriText& root) const;
};

UriText parse_uri_text(std::string_view text);

}  // namespace ponk::api::mlflow
