// SPDX-License-Identifier: Apache-2.0
#include "query/parser.hpp"

#include "base/text.hpp"
#include "query/fault.hpp"
#include "query/functions.hpp"
#include "query/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::query {

namespace {

// How tightly an operator holds its left side. A projection takes everything to its right that
// holds at least as tightly as `projection_floor`; what is weaker works on the finished list.
namespace power {
constexpr int none = 0;
constexpr int pipe = 1;
constexpr int either = 2;
constexpr int both = 3;
constexpr int comparison = 5;
constexpr int negate = 8;  // '!a.b[0]' denies what stands in 'a.b[0]'
constexpr int flatten = 9;
constexpr int projection_floor = 10;
constexpr int star = 20;
constexpr int filter = 21;
constexpr int dot = 40;
constexpr int bracket = 55;
}  // namespace power

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

Node leaf(NodeKind kind, std::size_t at, Json literal = {})
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

// A node over `left` and `right`; a chain of the same kind stays one flat node.
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

// Precedence climbing: `expression` reads a first part and then every operator that holds more
// tightly than the one that asked.
class Parser {
public:
    Parser(std::string_view text, std::vector<Token> tokens, const QueryLimits& limits)
        : text_(text), tokens_(std::move(tokens)), limits_(limits)
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
            if (token.kind != TokenKind::end) --next_;
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
        const bool wildcard =
            kind() == TokenKind::star && tokens_[next_ + 1].kind == TokenKind::right_bracket;
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
                make_fault(Fault::invalid_value, text_, at, "the step of a slice is never 0"));
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
                                             text_,
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
                                         text_,
                                         node.at,
                                         fmt::format("'{}' takes {}{} argument{}, not {}",
                                                     function.name,
                                                     open ? "at least " : "",
                                                     function.count,
                                                     function.count == 1 ? "" : "s",
                                                     given)));
    }

    [[nodiscard]] const Token& peek() const { return tokens_[next_]; }
    [[nodiscard]] TokenKind kind() const { return peek().kind; }

    // The end is never passed.
    const Token& take()
    {
        const auto& token = tokens_[next_];
        if (token.kind != TokenKind::end) ++next_;
        return token;
    }

    bool take_if(TokenKind wanted)
    {
        if (kind() != wanted) return false;
        take();
        return true;
    }

    Result<> expect(TokenKind wanted, std::string_view described)
    {
        if (!take_if(wanted)) return unexpected(described);
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view wanted) const
    {
        const auto& token = peek();
        const auto found =
            token.kind == TokenKind::end
                ? std::string("the expression ends")
                : fmt::format("found '{}'", printable(text_.substr(token.at, token.length)));
        return wrong(token.at, fmt::format("expected {}, but {}", wanted, found), advice(token));
    }

    // The mistakes that people who know other query languages make.
    [[nodiscard]] std::string advice(const Token& token) const
    {
        const auto before = next_ > 0 ? tokens_[next_ - 1].kind : TokenKind::end;
        if (token.kind == TokenKind::number)
            return fmt::format("Write a number as a literal: `{}`.", token.value.as_integer());
        if (token.kind == TokenKind::reference)
            return "'&' stands only before an argument of a function; the operator is '&&'.";
        if (token.kind == TokenKind::identifier) {
            const auto word = lower(token.value.as_string());
            if (word == "and") return "Write '&&' for 'and'.";
            if (word == "or") return "Write '||' for 'or'.";
        }
        if (power_of(before) == power::comparison)
            return "Put the whole query in single quotes: a shell runs `…` inside double quotes "
                   "as a command.";
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> too_deep(std::size_t at) const
    {
        return wrong(at, fmt::format("nested deeper than {} levels", limits_.depth));
    }

    [[nodiscard]] tl::unexpected<Error>
    wrong(std::size_t at, std::string_view what, std::string hint = {}) const
    {
        return tl::unexpected(make_fault(Fault::syntax, text_, at, what, std::move(hint)));
    }

    std::string_view text_;
    std::vector<Token> tokens_;
    const QueryLimits& limits_;
    std::size_t next_ = 0;
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
