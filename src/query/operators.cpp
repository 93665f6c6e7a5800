// SPDX-License-Identifier: Apache-2.0
#include "query/operators.hpp"

namespace ponk::query {

int power_of(TokenKind kind)
{
    switch (kind) {
    case TokenKind::pipe:
        return power::pipe;
    case TokenKind::either:
        return power::either;
    case TokenKind::both:
        return power::both;
    case TokenKind::equal:
    case TokenKind::not_equal:
    case TokenKind::less:
    case TokenKind::less_equal:
    case TokenKind::greater:
    case TokenKind::greater_equal:
        return power::comparison;
    case TokenKind::flatten:
        return power::flatten;
    case TokenKind::filter:
        return power::filter;
    case TokenKind::dot:
        return power::dot;
    case TokenKind::left_bracket:
        return power::bracket;
    default:
        return power::none;
    }
}

Comparison comparison_of(TokenKind kind)
{
    switch (kind) {
    case TokenKind::not_equal:
        return Comparison::not_equal;
    case TokenKind::less:
        return Comparison::less;
    case TokenKind::less_equal:
        return Comparison::less_equal;
    case TokenKind::greater:
        return Comparison::greater;
    case TokenKind::greater_equal:
        return Comparison::greater_equal;
    default:
        return Comparison::equal;
    }
}

}  // namespace ponk::query
