// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ponk::secrets {

// All ways to write one thing, a byte for instance, as paths from `entry` to `exit`. A byte may
// lead to several nodes. Immutable once it is filled.
class FormGraph {
public:
    using Node = std::uint16_t;
    static constexpr Node entry = 0;
    static constexpr Node exit = 1;

    struct Edge {
        char byte;
        Node to;
    };

    FormGraph();

    // A node between two parts, where ways meet.
    Node add_meeting();
    // One more way to come from one meeting to another; `text` has a byte or more.
    void add(Node from, std::string_view text, Node to);
    void add(std::string_view text) { add(entry, text, exit); }

    [[nodiscard]] std::span<const Edge> edges(Node node) const { return edges_[node]; }
    // Those with this byte.
    [[nodiscard]] std::span<const Edge> edges(Node node, char byte) const;

private:
    Node make_node();
    void add_edge(Node from, Edge edge);

    std::vector<std::vector<Edge>> edges_;  // of each node, sorted by byte
    std::vector<Node> meetings_;
};

}  // namespace ponk::secrets
