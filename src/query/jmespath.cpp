// SPDX-License-Identifier: Apache-2.0
#include "query/jmespath.hpp"

#include "query/interpreter.hpp"
#include "query/parser.hpp"

namespace ponk::query {

struct Expression::Program {
    std::string text;
    QueryLimits limits;
    Node root;
};

Expression::Expression(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
Expression::Expression(Expression&& other) noexcept = default;
Expression& Expression::operator=(Expression&& other) noexcept = default;
Expression::~Expression() = default;

Result<Json> Expression::search(const Json& document) const
{
    Interpreter interpreter(program_->text, program_->limits, document);
    const auto value = TRY(interpreter.evaluate(program_->root, Value::borrow(document)));
    return interpreter.materialise(value, program_->root);
}

const std::string& Expression::text() const
{
    return program_->text;
}

Result<Expression> parse_jmespath(std::string_view text, const QueryLimits& limits)
{
    auto root = TRY(parse_tree(text, limits));
    return Expression(std::make_unique<const Expression::Program>(
        Expression::Program{std::string(text), limits, std::move(root)}));
}

}  // namespace ponk::query
