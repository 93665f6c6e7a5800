// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "query/lexer.hpp"
#include "query/syntax_tree.hpp"

namespace ponk::query {

// How tightly an operator holds its left side. A projection takes everything to its right that
// holds at least as tightly as `projection_floor`; what is weaker works on the finished list.
namespace power {
constexpr int none = 0;
constexpr int pipe = 1;
constexpr int either = 2;
constexpr int both = 3;
constexpr int comparison = 5;
constexpr int negate = 8;  // '!a.b[0]' negates 'a.b[0]'
constexpr int flatten = 9;
constexpr int projection_floor = 10;
constexpr int star = 20;
constexpr int filter = 21;
constexpr int dot = 40;
constexpr int bracket = 55;
}  // namespace power

int power_of(TokenKind kind);
Comparison comparison_of(TokenKind kind);

}  // namespace ponk::query
