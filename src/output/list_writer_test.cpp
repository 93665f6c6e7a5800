// SPDX-License-Identifier: Apache-2.0
#include "output/list_writer.hpp"

#include <gtest/gtest.h>

namespace ponk::output {
namespace {

class ListWriting : public testing::TestWithParam<Format> {};

TEST_P(ListWriting, PiecesAreTheTextOfTheWholeList)
{
    const Terminal terminal{.colour = true};
    for (const std::size_t size : {0U, 1U, 2U, 5U, 7U}) {
        JsonArray whole;
        ListWriter writer(GetParam(), terminal);
        std::string pieces;
        JsonArray piece;
        for (std::size_t i = 0; i < size; ++i) {
            const JsonObject element{{"n", static_cast<std::int64_t>(i)},
                                     {"text", "a\nb\t\"c\""},
                                     {"object", JsonObject{{"list", JsonArray{1, "]"}}}}};
            whole.push_back(element);
            piece.push_back(element);
            if (i % 3 == 2) pieces += writer.add(std::exchange(piece, {}));
        }
        pieces += writer.add(piece);
        pieces += writer.finish();

        EXPECT_EQ(pieces, render(Json(whole), GetParam(), terminal)) << size;
    }
}

INSTANTIATE_TEST_SUITE_P(Formats,
                         ListWriting,
                         testing::Values(Format::json, Format::jsonc, Format::tsv, Format::yaml));

}  // namespace
}  // namespace ponk::output
