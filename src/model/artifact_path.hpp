// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::model {

// Where an artifact lies, as a client names it and after its one decoding: names with '/' between
// them. Whatever could lead elsewhere, or mean something else to a later reader, is refused as
// "Invalid path", the words that clients know: empty names, "..", control characters, backslashes,
// drives, what is percent-encoded still, fragments and parameters ('#', ';').
class ArtifactPath {
public:
    // No text is the root. One slash at the end is forgiven: it says that a folder is meant. A "."
    // names the folder that it is in, as people write it ("./plots"), and is left out.
    static Result<ArtifactPath> parse(std::string_view text);
    // Whether one name could be part of a path: files that were not logged by clients may have
    // others.
    static bool is_name(std::string_view name);

    ArtifactPath() = default;  // the root

    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    [[nodiscard]] bool is_root() const noexcept { return names_.empty(); }
    [[nodiscard]] std::string text() const;
    // Those of a path that is not the root.
    [[nodiscard]] const std::string& name() const { return names_.back(); }
    [[nodiscard]] ArtifactPath parent() const;
    // The first `count` names, and all but those.
    [[nodiscard]] ArtifactPath first(std::size_t count) const;
    [[nodiscard]] ArtifactPath below(std::size_t count) const;
    [[nodiscard]] ArtifactPath operator/(const ArtifactPath& inside) const;

    friend bool operator==(const ArtifactPath&, const ArtifactPath&) = default;

private:
    explicit ArtifactPath(std::vector<std::string> names) : names_(std::move(names)) {}

    std::vector<std::string> names_;
};

}  // namespace ponk::model
