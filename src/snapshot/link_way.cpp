// SPDX-License-Identifier: Apache-2.0
#include "snapshot/link_way.hpp"

#include <algorithm>

namespace ponk::snapshot {

namespace {

constexpr int most_links = 40;  // the kernel's own limit

}  // namespace

LinkWay follow_links(const std::string& path, const LinkAt& link_at)
{
    std::string at;
    std::string left = path;
    int links = 0;
    while (!left.empty()) {
        const auto slash = std::min(left.find('/'), left.size());
        const auto part = left.substr(0, slash);
        left.erase(0, slash + 1);
        if (part.empty() || part == ".") continue;
        const auto above = at.rfind('/');
        if (part == "..") {
            if (at.empty()) return {LinkWay::End::outside, {}};
            at.resize(above == std::string::npos ? 0 : above);
            continue;
        }
        const auto before = at.size();
        if (!at.empty()) at += '/';
        at += part;
        const std::string_view target = link_at(at);
        if (target.empty()) continue;
        if (target.front() == '/') return {LinkWay::End::outside, {}};
        if (++links > most_links) return {LinkWay::End::circle, {}};
        at.resize(before);
        left.insert(0, std::string(target) + "/");
    }
    return {LinkWay::End::inside, at};
}

LinkWay follow_links(const std::string& path, const Manifest& tree)
{
    return follow_links(path, [&tree](const std::string& place) {
        const auto* entry = tree.find(place);
        return entry && entry->kind == EntryKind::link ? std::string_view(entry->target)
                                                       : std::string_view();
    });
}

}  // namespace ponk::snapshot
