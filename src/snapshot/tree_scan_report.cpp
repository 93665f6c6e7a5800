// SPDX-License-Identifier: Apache-2.0
// What a scan has to tell: links that leave the tree, what was left out.
#include "base/text.hpp"
#include "config/ignore/what_travels.hpp"
#include "snapshot/link_way.hpp"
#include "snapshot/tree_scan.hpp"

#include <algorithm>

namespace ponk::snapshot {

std::vector<std::string> TreeScan::notices()
{
    auto notices = *notices_.lock();
    const auto links = links_.lock();
    const auto link_at = [&links](const std::string& path) {
        const auto found = links->find(path);
        return found == links->end() ? std::string_view() : std::string_view(found->second);
    };
    for (const auto& [path, target] : *links) {
        if (follow_links(path, link_at).end != LinkWay::End::outside) continue;
        notices.push_back("'" + printable(path) + "' is a link to '" + printable(target) +
                          "', outside the folder: the link is kept, what it points to is not "
                          "stored");
    }
    if (const auto long_paths = long_paths_.lock(); long_paths->count > 0) {
        notices.push_back(fmt::format("what has a path of more than {} bytes was left out, {} of "
                                      "it: '{}…'",
                                      longest_path,
                                      long_paths->count,
                                      printable(long_paths->first)));
    }
    std::sort(notices.begin(), notices.end());  // threads found them in any order
    if (const auto secrets = tracked_secrets(); !secrets.empty())
        notices.push_back(config::secrets_notice(secrets));
    return notices;
}

// Files of secrets travel when git tracks them, which may be by mistake, or when a line of an
// ignore file names them.
std::vector<std::string> TreeScan::tracked_secrets()
{
    std::vector<std::string> tracked;
    const auto* const rules = options_.ignore.rules;
    if (rules == nullptr) return tracked;
    for (const auto& path : *secrets_.lock()) {
        const auto decision = rules->explain(path, false);
        if (decision && !decision->rule.empty()) tracked.push_back(path);
    }
    return tracked;
}

LeftOut TreeScan::left_out() const
{
    LeftOut out;
    for (const auto& folder : folders_)
        folder.left_out.add_to(out, folder.path);
    // Those at the top say most; threads found them in any order.
    std::sort(out.names.begin(), out.names.end(), [](const auto& left, const auto& right) {
        const auto depth = [](const std::string& name) {
            return std::count(name.begin(), name.end() - 1, '/');
        };
        return std::pair(depth(left), std::string_view(left)) <
               std::pair(depth(right), std::string_view(right));
    });
    return out;
}

void TreeScan::note(std::string notice)
{
    notices_.lock()->push_back(std::move(notice));
}

void TreeScan::note_secrets(const std::string& path)
{
    secrets_.lock()->insert(path);
}

void TreeScan::leave_out_long(const std::string& path)
{
    const auto long_paths = long_paths_.lock();
    ++long_paths->count;
    // The same one whichever thread comes first.
    auto begin = path.substr(0, 60);
    if (long_paths->count == 1 || begin < long_paths->first) long_paths->first = std::move(begin);
}

void TreeScan::note_link(const std::string& path, std::string_view target)
{
    // Where it leads depends on other links, too: judged when all are known.
    links_.lock()->insert_or_assign(path, std::string(target));
}

}  // namespace ponk::snapshot
