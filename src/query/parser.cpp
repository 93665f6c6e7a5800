// SPDX-License-Identifier: Apache-2.0
#include "query/parser.hpp"

#include "query/fault.hpp"
#include "query/functions.hpp"
#include "query/lexer.hpp"
#include "query/operators.hpp"
#include "query/token_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::query {

namespace {

// Precedence climbing: `expression` reads a first part and then every operator that holds more
// tightly than the one that asked.
class Parser : private TokenCursor {
public:
    Parser(std::string_view text, std::vector<Token> tokens, const QueryLimits& limits)
        : TokenCursor(text, std::move(tokens)), limits_(limits)
    {
    }

    Result<Node> whole()
    {
        auto node = TRY(expression(power::none));
        if (kind() != TokenKind::end) return unexpected("the end or an operator");
        return node;
    }

private:
    Result<Node> expression(int floor)
    {
        if (++depth_ > limits_.depth) return too_deep(peek().at);
        auto node = TRY(first_part());
        while (power_of(kind()) > floor) {
            node = TRY(operation(std::move(node)));
            if (node.height > limits_.depth) return too_deep(peek().at);
        }
        --depth_;
        return node;
    }

    Result<Node> first_part()
    {
        const auto token = take();
        switch (token.kind) {
        case TokenKind::literal:
            return leaf(NodeKind::literal, token.at, token.value);
        case TokenKind::current:
            return leaf(NodeKind::current, token.at);
        case TokenKind::identifier:
            if (kind() == TokenKind::left_paren) return call(token);
            return leaf(NodeKind::field, token.at, token.value);
        case TokenKind::quoted_identifier:
            if (kind() == TokenKind::left_paren)
                return wrong(token.at, "the name of a function takes no quotes");
            return leaf(NodeKind::field, token.at, token.value);
        case TokenKind::negate:
            return negation(token.at);
        case TokenKind::left_paren:
            return parenthesised();
        case TokenKind::left_brace:
            return multi_hash(token.at);
        case TokenKind::star:
            return projection(NodeKind::object_projection, token.at, TRY(projected(power::star)));
        case TokenKind::flatten:
            return flatten(leaf(NodeKind::current, token.at), token.at);
        case TokenKind::filter:
            return filter(leaf(NodeKind::current, token.at), token.at);
        case TokenKind::left_bracket:
            return first_bracket(token.at);
        default:
            give_back(token);
            return unexpected("an expression");
        }
    }

    Result<Node> operation(Node left)
    {
        const auto token = take();
        switch (token.kind) {
        case TokenKind::pipe:
            return then(std::move(left), TRY(expression(power::pipe)));
        case TokenKind::either:
            return chained(NodeKind::any_of, std::move(left), TRY(expression(power::either)));
        case TokenKind::both:
            return chained(NodeKind::all_of, std::move(left), TRY(expression(power::both)));
        case TokenKind::flatten:
            return flatten(std::move(left), token.at);
        case TokenKind::filter:
            return filter(std::move(left), token.at);
        case TokenKind::dot:
            return after_dot(std::move(left), token.at);
        case TokenKind::left_bracket:
            return bracket(std::move(left), token.at);
        default:
            return comparison(std::move(left), token);
        }
    }

    Result<Node> comparison(Node left, const Token& token)
    {
        auto node = leaf(NodeKind::comparison, token.at);
        node.comparison = comparison_of(token.kind);
        adopt(node, std::move(left));
        adopt(node, TRY(expression(power::comparison)));
        return node;
    }

    Result<Node> negation(std::size_t at)
    {
        auto node = leaf(NodeKind::negation, at);
        adopt(node, TRY(expression(power::negate)));
        return node;
    }

    Result<Node> parenthesised()
    {
        auto node = TRY(expression(power::none));
        TRY(expect(TokenKind::right_paren, "')'"));
        return node;
    }

    Result<Node> after_dot(Node left, std::size_t at)
    {
        if (kind() != TokenKind::star) return then(std::move(left), TRY(dot_target(power::dot)));
        take();
        return then(std::move(left),
                    projection(NodeKind::object_projection, at, TRY(projected(power::star))));
    }

    Result<Node> dot_target(int floor)
    {
        switch (kind()) {
        case TokenKind::identifier:
        case TokenKind::quoted_identifier:
        case TokenKind::star:
            return expression(floor);
        case TokenKind::left_bracket:
            return multi_list(take().at);
        case TokenKind::left_brace:
            return multi_hash(take().at);
        default:
            return unexpected("a name, '*', '[' or '{' after '.'");
        }
    }

    // What a projection does to each element: the operators to its right, up to a weak one.
    Result<Node> projected(int floor)
    {
        if (power_of(kind()) < power::projection_floor) return leaf(NodeKind::current, peek().at);
        if (kind() != TokenKind::dot) return expression(floor);
        take();
        return dot_target(floor);
    }

    Result<Node> flatten(Node left, std::size_t at)
    {
        auto flat = then(std::move(left), leaf(NodeKind::flatten, at));
        auto each = TRY(projected(power::flatten));
        return then(std::move(flat), projection(NodeKind::list_projection, at, std::move(each)));
    }

    Result<Node> filter(Node left, std::size_t at)
    {
        auto condition = TRY(expression(power::none));
        TRY(expect(TokenKind::right_bracket, "']' at the end of the filter"));
        auto node = projection(NodeKind::filter_projection, at, TRY(projected(power::filter)));
        adopt(node, std::move(condition));
        return then(std::move(left), std::move(node));
    }

    Result<Node> first_bracket(std::size_t at)
    {
        const bool wildcard = kind() == TokenKind::star && kind_after() == TokenKind::right_bracket;
        if (wildcard || kind() == TokenKind::number || kind() == TokenKind::colon)
            return bracket(leaf(NodeKind::current, at), at);
        return multi_list(at);
    }

    // The inside of '[…]' after a value: a number, a slice or '*'.
    Result<Node> bracket(Node left, std::size_t at)
    {
        if (kind() == TokenKind::number || kind() == TokenKind::colon)
            return index_or_slice(std::move(left), at);
        if (kind() != TokenKind::star) return unexpected("a number, a slice, '*' or '?' after '['");
        take();
        TRY(expect(TokenKind::right_bracket, "']'"));
        auto each = TRY(projected(power::star));
        return then(std::move(left), projection(NodeKind::list_projection, at, std::move(each)));
    }

    Result<Node> index_or_slice(Node left, std::size_t at)
    {
        auto node = leaf(NodeKind::index, at);
        std::size_t part = 0;
        for (; kind() != TokenKind::right_bracket; take()) {
            if (kind() == TokenKind::number && !node.slice.at(part)) {
                node.slice.at(part) = peek().value.as_integer();
            } else if (kind() == TokenKind::colon && part < 2) {
                node.kind = NodeKind::slice;
                ++part;
            } else {
                return unexpected(node.kind == NodeKind::slice ? "']' or ':'" : "']'");
            }
        }
        take();
        if (node.kind == NodeKind::index) {
            node.literal = *node.slice[0];
            return then(std::move(left), std::move(node));
        }
        if (node.slice[2] == 0)
            return tl::unexpected(
                make_fault(Fault::invalid_value, text(), at, "the step of a slice is never 0"));
        auto each = TRY(projected(power::star));
        return then(then(std::move(left), std::move(node)),
                    projection(NodeKind::list_projection, at, std::move(each)));
    }

    Result<Node> multi_list(std::size_t at)
    {
        auto node = leaf(NodeKind::multi_list, at);
        do {
            adopt(node, TRY(expression(power::none)));
        } while (take_if(TokenKind::comma));
        TRY(expect(TokenKind::right_bracket, "',' or ']'"));
        return node;
    }

    Result<Node> multi_hash(std::size_t at)
    {
        auto node = leaf(NodeKind::multi_hash, at);
        do {
            if (kind() != TokenKind::identifier && kind() != TokenKind::quoted_identifier)
                return unexpected("a name for the value");
            node.names.push_back(take().value.as_string());
            TRY(expect(TokenKind::colon, "':' after the name"));
            adopt(node, TRY(expression(power::none)));
        } while (take_if(TokenKind::comma));
        TRY(expect(TokenKind::right_brace, "',' or '}'"));
        return node;
    }

    Result<Node> call(const Token& name)
    {
        const auto& wanted = name.value.as_string();
        auto node = leaf(NodeKind::call, name.at, name.value);
        node.function = find_function(wanted);
        if (!node.function)
            return tl::unexpected(make_fault(Fault::unknown_function,
                                             text(),
                                             name.at,
                                             fmt::format("there is no function '{}'", wanted),
                                             suggest_function(wanted)));
        take();
        if (!take_if(TokenKind::right_paren)) {
            do {
                adopt(node, TRY(argument()));
            } while (take_if(TokenKind::comma));
            TRY(expect(TokenKind::right_paren, "',' or ')'"));
        }
        TRY(check_arity(node));
        return node;
    }

    Result<Node> argument()
    {
        if (kind() != TokenKind::reference) return expression(power::none);
        auto node = leaf(NodeKind::reference, take().at);
        adopt(node, TRY(expression(power::none)));
        return node;
    }

    Result<> check_arity(const Node& node) const
    {
        const auto& function = *node.function;
        const auto given = node.children.size();
        const bool open = function.arity == Arity::at_least;
        if (open ? given >= function.count : given == function.count) return {};
        return tl::unexpected(make_fault(Fault::invalid_arity,
                                         text(),
                                         node.at,
                                         fmt::format("'{}' takes {}{} argument{}, not {}",
                                                     function.name,
                                                     open ? "at least " : "",
                                                     function.count,
                                                     function.count == 1 ? "" : "s",
                                                     given)));
    }

    [[nodiscard]] tl::unexpected<Error> too_deep(std::size_t at) const
    {
        return wrong(at, fmt::format("nested deeper than {} levels", limits_.depth));
    }

    const QueryLimits& limits_;
    std::size_t depth_ = 0;
};

}  // namespace

Result<Node> parse_tree(std::string_view expression, const QueryLimits& limits)
{
    if (expression.size() > limits.text)
        return fail(ErrorKind::invalid_argument,
                    "syntax: the expression has {} bytes, more than {}",
                    expression.size(),
                    limits.text);
    return Parser(expression, TRY(read_tokens(expression)), limits).whole();
}

}  // namespace ponk::query
