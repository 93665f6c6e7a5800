// SPDX-License-Identifier: Apache-2.0
#include "store/search/search_sql.hpp"

namespace ponk::store {

namespace {

constexpr std::size_t group = 12;

}  // namespace

Sql& Sql::add(const Sql& other)
{
    text_ += other.text_;
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
    return *this;
}

Sql& Sql::value(SqlValue value)
{
    text_ += '?';
    values_.push_back(std::move(value));
    return *this;
}

Result<db::Statement> Sql::prepare(db::Connection& connection) const
{
    auto statement = TRY(connection.prepare_once(text_));
    for (const auto& value : values_)
        std::visit([&statement](const auto& one) { statement.bind(one); }, value);
    return statement;
}

Sql all_of(const std::vector<Sql>& conditions)
{
    Sql all(conditions.empty() ? "1" : "(");
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        if (i > 0) all.add(i % group == 0 ? ") AND (" : " AND ");
        all.add(conditions[i]);
    }
    return conditions.empty() ? all : all.add(")");
}

}  // namespace ponk::store
