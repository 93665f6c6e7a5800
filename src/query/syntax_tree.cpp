// SPDX-License-Identifier: Apache-2.0
#include "query/syntax_tree.hpp"

#include <algorithm>

namespace ponk::query {

Node leaf(NodeKind kind, std::size_t at, Json literal)
{
    Node node{.kind = kind, .at = at};
    node.literal = std::move(literal);
    return node;
}

void adopt(Node& parent, Node child)
{
    parent.height = std::max(parent.height, child.height + 1);
    parent.children.push_back(std::move(child));
}

Node chained(NodeKind kind, Node left, Node right)
{
    if (left.kind == kind) {
        adopt(left, std::move(right));
        return left;
    }
    auto node = leaf(kind, left.at);
    adopt(node, std::move(left));
    adopt(node, std::move(right));
    return node;
}

Node then(Node left, Node right)
{
    if (left.kind == NodeKind::current) return right;
    return chained(NodeKind::sequence, std::move(left), std::move(right));
}

Node projection(NodeKind kind, std::size_t at, Node each)
{
    auto node = leaf(kind, at);
    adopt(node, std::move(each));
    return node;
}

}  // namespace ponk::query
