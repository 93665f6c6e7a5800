// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::query {

struct Function;

// Every node turns the current value into another; a sequence feeds each one's result to the next.
// So `a[*].b` is sequence(field a, list_projection(field b)): no node needs a left-hand side.
enum class NodeKind {
    current,
    literal,
    field,
    index,
    slice,
    flatten,
    sequence,
    any_of,  // a || b || c
    all_of,  // a && b && c
    negation,
    comparison,         // children: left, right
    list_projection,    // children: what each element becomes
    object_projection,  // the same for each member's value
    filter_projection,  // children: what each element becomes, condition
    multi_list,
    multi_hash,  // names and children in parallel
    call,
    reference  // &child; only as an argument
};

enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };

struct Node {
    NodeKind kind = NodeKind::current;
    std::size_t at = 0;      // byte offset in the expression
    std::size_t height = 1;  // levels of this tree: bounds every recursion over it
    std::vector<Node> children = {};
    Json literal = {};  // the value, the field's name or the index
    std::vector<std::string> names = {};
    std::array<std::optional<std::int64_t>, 3> slice = {};  // start, stop, step
    Comparison comparison = Comparison::equal;
    const Function* function = nullptr;
};

Node leaf(NodeKind kind, std::size_t at, Json literal = {});
void adopt(Node& parent, Node child);
// A node over `left` and `right`; a chain of the same kind stays one flat node.
Node chained(NodeKind kind, Node left, Node right);
// `right` applied to what `left` gives.
Node then(Node left, Node right);
Node projection(NodeKind kind, std::size_t at, Node each);

}  // namespace ponk::query
