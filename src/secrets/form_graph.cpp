// SPDX-License-Identifier: Apache-2.0
#include "secrets/form_graph.hpp"

#include <algorithm>

namespace ponk::secrets {

namespace {

bool by_byte(const FormGraph::Edge& one, const FormGraph::Edge& other)
{
    return one.byte < other.byte;
}

}  // namespace

FormGraph::FormGraph() : edges_(2), meetings_{entry, exit} {}

FormGraph::Node FormGraph::make_node()
{
    edges_.emplace_back();
    return static_cast<Node>(edges_.size() - 1);
}

FormGraph::Node FormGraph::add_meeting()
{
    meetings_.push_back(make_node());
    return meetings_.back();
}

void FormGraph::add(Node from, std::string_view text, Node to)
{
    // Ways share their beginnings, so that few of them have to be followed at a time. Nodes inside
    // a way belong to the ways out of one meeting, so sharing never mixes two parts.
    for (const char byte : text.substr(0, text.size() - 1)) {
        const auto& known = edges_[from];
        const auto inside = std::find_if(known.begin(), known.end(), [&](const Edge& edge) {
            return edge.byte == byte &&
                   std::count(meetings_.begin(), meetings_.end(), edge.to) == 0;
        });
        if (inside != known.end()) {
            from = inside->to;
            continue;
        }
        const Node node = make_node();
        add_edge(from, {byte, node});
        from = node;
    }
    const auto& last = edges_[from];
    const bool known = std::any_of(last.begin(), last.end(), [&](const Edge& edge) {
        return edge.byte == text.back() && edge.to == to;
    });
    if (!known) add_edge(from, {text.back(), to});
}

void FormGraph::add_edge(Node from, Edge edge)
{
    auto& edges = edges_[from];
    edges.insert(std::upper_bound(edges.begin(), edges.end(), edge, by_byte), edge);
}

std::span<const FormGraph::Edge> FormGraph::edges(Node node, char byte) const
{
    const auto& all = edges_[node];
    const auto [begin, end] = std::equal_range(all.begin(), all.end(), Edge{byte, 0}, by_byte);
    return {begin, end};
}

}  // namespace ponk::secrets
