// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "snapshot/manifest.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace ponk::snapshot {

// Where a path of a tree leads when every link on the way is followed, as the kernel would: the
// text of one link tells nothing, since ".." behind another link goes up from where that one
// points.
struct LinkWay {
    enum class End {
        inside,
        outside,
        circle,  // nowhere
    };
    End end = End::inside;
    std::string path;  // when inside: without links, "" is the root; need not be there
};

// The text of the link at a path; empty when there is none.
using LinkAt = std::function<std::string_view(const std::string& path)>;

LinkWay follow_links(const std::string& path, const LinkAt& link_at);
LinkWay follow_links(const std::string& path, const Manifest& tree);

}  // namespace ponk::snapshot
