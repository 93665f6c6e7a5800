// SPDX-License-Identifier: Apache-2.0
#include "base/like.hpp"
#include "os/test_folder.hpp"
#include "store/search/search_term.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ponk::store {
namespace {

using query::search::Comparison;
using query::search::Operator;

// Conditions are checked in SQLite, states outside of it: both must mean the same.
TEST(SearchLike, SqliteAndWeAgreeOnPatterns)
{
    const os::TestFolder place;
    auto database = db::Connection::open(place.path() / "x.db", db::Role::writer).value();
    std::mt19937 random(3);
    const auto some = [&random](const std::vector<std::string>& pieces) {
        std::string text;
        for (auto left = random() % 8; left > 0; --left)
            text += pieces[random() % pieces.size()];
        return text;
    };
    int agreed = 0;
    for (int i = 0; i < 3'000; ++i) {
        const auto pattern =
            some({"%", "%", "_", "a", "A", "b", "*", "?", "[", "]", "^", "\\", "é", "É", "😀"});
        const auto text = some({"a", "A", "b", "*", "?", "[", "]", "^", "\\", "é", "É", "😀"});
        for (const auto op : {Operator::like, Operator::ilike}) {
            Comparison comparison{.op = op, .value = pattern};
            auto statement = Sql("SELECT ")
                                 .add(compare(Sql().value(text), comparison))
                                 .prepare(*database)
                                 .value();
            ASSERT_TRUE(statement.step().value());
            const auto letters = op == Operator::like ? Letters::exact : Letters::ascii_folded;
            const bool ours = matches_like(pattern, text, letters);
            EXPECT_EQ(ours, statement.integer(0) != 0) << pattern << " " << text;
            agreed += ours ? 1 : 0;
        }
    }
    EXPECT_GT(agreed, 100);
}

}  // namespace
}  // namespace ponk::store
