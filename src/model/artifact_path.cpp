// SPDX-License-Identifier: Apache-2.0
#include "model/artifact_path.hpp"

#include "base/text.hpp"

#include <climits>
#include <fmt/format.h>

#include <algorithm>

namespace ponk::model {

namespace {

constexpr std::size_t longest_path =
    3000;  // in bytes: with our own folder before it below PATH_MAX

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_encoded(std::string_view name)
{
    for (std::size_t at = 0; at + 2 < name.size(); ++at) {
        if (name[at] == '%' && is_hex(name[at + 1]) && is_hex(name[at + 2])) return true;
    }
    return false;
}

bool is_drive(std::string_view name)
{
    return name.size() == 2 && is_letter(name[0]) && name[1] == ':';
}

bool is_odd(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f || c == '\\' || c == '/' || c == '#' || c == ';';
}

// Clients compare these words, and nothing may follow them.
tl::unexpected<Error> invalid()
{
    return fail(ErrorKind::invalid_argument, "Invalid path");
}

}  // namespace

bool ArtifactPath::is_name(std::string_view name)
{
    return !name.empty() && name.size() <= NAME_MAX && name != "." && name != ".." &&
           std::none_of(name.begin(), name.end(), is_odd) && !is_drive(name) && !is_encoded(name) &&
           is_utf8(name);
}

Result<ArtifactPath> ArtifactPath::parse(std::string_view text)
{
    if (text.empty()) return ArtifactPath();
    if (text.size() > longest_path) return invalid();
    auto names = split(text, '/');
    if (names.size() > 1 && names.back().empty()) names.pop_back();
    std::erase(names, ".");
    if (!std::all_of(names.begin(), names.end(), is_name)) return invalid();
    return ArtifactPath(std::move(names));
}

std::string ArtifactPath::text() const
{
    return join(names_, "/");
}

ArtifactPath ArtifactPath::parent() const
{
    return ArtifactPath({names_.begin(), names_.end() - 1});
}

ArtifactPath ArtifactPath::first(std::size_t count) const
{
    const auto until = std::min(count, names_.size());
    return ArtifactPath({names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(until)});
}

ArtifactPath ArtifactPath::below(std::size_t count) const
{
    const auto from = std::min(count, names_.size());
    return ArtifactPath({names_.begin() + static_cast<std::ptrdiff_t>(from), names_.end()});
}

ArtifactPath ArtifactPath::operator/(const ArtifactPath& inside) const
{
    auto names = names_;
    names.insert(names.end(), inside.names_.begin(), inside.names_.end());
    return ArtifactPath(std::move(names));
}

}  // namespace ponk::model
