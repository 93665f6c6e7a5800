// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "secrets/redactor.hpp"

#include <bitset>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::secrets {

// Finds many patterns in one pass (Aho and Corasick). A node stands for the longest end of what was
// read that begins a pattern; node 0 for none. Immutable.
class RedactionPatterns::Automaton {
public:
    using Node = std::uint32_t;

    explicit Automaton(const std::set<std::string>& patterns);

    [[nodiscard]] bool empty() const noexcept { return nodes_.size() == 1; }
    [[nodiscard]] std::size_t longest() const noexcept { return longest_; }

    [[nodiscard]] Node next(Node node, char byte) const;
    // Length of the longest pattern that ends here, 0 when none does.
    [[nodiscard]] std::size_t match(Node node) const { return nodes_[node].match; }
    // How many of the last bytes may be the beginning of a pattern that is not complete yet.
    [[nodiscard]] std::size_t open(Node node) const { return nodes_[node].open; }
    // False when no pattern begins with these two bytes. Every pattern has two or more.
    [[nodiscard]] bool may_begin(char first, char second) const
    {
        return pairs_[pair(first, second)];
    }

private:
    struct State {
        Node sibling = 0;  // next child of the same parent
        Node child = 0;    // first child
        Node fallback = 0;
        std::uint32_t depth = 0;
        std::uint32_t match = 0;
        std::uint32_t open = 0;
        char byte = 0;
    };

    static std::size_t pair(char first, char second)
    {
        return static_cast<std::size_t>(static_cast<unsigned char>(first)) << 8U |
               static_cast<unsigned char>(second);
    }
    [[nodiscard]] Node child(Node node, char byte) const;
    void add(std::string_view pattern);
    void link();

    std::vector<State> nodes_{1};
    std::vector<Node> roots_ = std::vector<Node>(256);
    std::bitset<65536> pairs_;
    std::size_t longest_ = 0;
};

}  // namespace ponk::secrets
