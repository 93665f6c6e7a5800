// SPDX-License-Identifier: Apache-2.0
#include "secrets/automaton.hpp"

#include <algorithm>

namespace ponk::secrets {

using Automaton = RedactionPatterns::Automaton;

Automaton::Automaton(const std::set<std::string>& patterns)
{
    for (const auto& pattern : patterns) {
        if (pattern.size() >= 2) add(pattern);
    }
    link();
}

Automaton::Node Automaton::child(Node node, char byte) const
{
    if (node == 0) return roots_[static_cast<unsigned char>(byte)];
    // Below the first bytes patterns hardly ever branch, so this list is almost always one long.
    Node found = nodes_[node].child;
    while (found != 0 && nodes_[found].byte != byte)
        found = nodes_[found].sibling;
    return found;
}

void Automaton::add(std::string_view pattern)
{
    longest_ = std::max(longest_, pattern.size());
    pairs_.set(pair(pattern[0], pattern[1]));
    Node node = 0;
    for (const char byte : pattern) {
        Node below = child(node, byte);
        if (below == 0) {
            below = static_cast<Node>(nodes_.size());
            nodes_.push_back({});
            nodes_[below].byte = byte;
            nodes_[below].depth = nodes_[node].depth + 1;
            nodes_[below].sibling = nodes_[node].child;
            nodes_[node].child = below;
            if (node == 0) roots_[static_cast<unsigned char>(byte)] = below;
        }
        node = below;
    }
    nodes_[node].match = static_cast<std::uint32_t>(pattern.size());
}

void Automaton::link()
{
    // Breadth first: what a node falls back to is less deep, so it is complete when needed.
    std::vector<Node> order{0};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const Node node = order[i];
        auto& state = nodes_[node];
        const auto& fallback = nodes_[state.fallback];
        if (state.match == 0) state.match = fallback.match;
        state.open = state.child != 0 ? state.depth : fallback.open;
        for (Node below = state.child; below != 0; below = nodes_[below].sibling) {
            nodes_[below].fallback = node == 0 ? 0 : next(state.fallback, nodes_[below].byte);
            order.push_back(below);
        }
    }
}

Automaton::Node Automaton::next(Node node, char byte) const
{
    for (;;) {
        const Node below = child(node, byte);
        if (below != 0) return below;
        if (node == 0) return 0;
        node = nodes_[node].fallback;
    }
}

}  // namespace ponk::secrets
