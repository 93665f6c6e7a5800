// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/point_scanner.hpp"

#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

constexpr std::string_view answer =
    R"({"metrics":{"a \"b\" [{]}\u00e9":{"latest":"x]}","count":2,"points":[[0,1000,0.5],)"
    R"([1,2000,"\\\"]["]]},"empty":{"latest":null,"count":0,"points":[]},)"
    R"("loss":{"latest":1e308,"count":1,"points":[[-9223372036854775808,3,"NaN"]]}}})";

std::string scanned(std::string_view text, std::size_t piece)
{
    std::string seen;
    PointScanner scanner([&seen](const std::string& key, const JsonArray& point) -> Result<> {
        seen += key + "=" + to_json(Json(point)) + "\n";
        return {};
    });
    for (std::size_t at = 0; at < text.size(); at += piece) {
        if (!scanner.feed(text.substr(at, piece))) return "refused";
    }
    return scanner.finish() ? seen : seen + "cut off";
}

TEST(PointScanner, GivesEachPointWhateverThePieces)
{
    const std::string whole = "a \"b\" [{]}é=[0,1000,0.5]\n"
                              "a \"b\" [{]}é=[1,2000,\"\\\\\\\"][\"]\n"
                              "loss=[-9223372036854775808,3,\"NaN\"]\n";
    for (std::size_t piece = 1; piece <= answer.size(); ++piece)
        ASSERT_EQ(scanned(answer, piece), whole) << piece;
}

TEST(PointScanner, TellsWhatIsCutOffOrDamaged)
{
    EXPECT_TRUE(scanned(answer.substr(0, answer.size() - 1), 7).ends_with("cut off"));
    EXPECT_EQ(scanned("", 1), "cut off");
    EXPECT_EQ(scanned("}", 1), "refused");
    EXPECT_EQ(scanned(R"({"metrics":{"a":{"points":[[1,2]]}}})", 3), "refused");
}

}  // namespace
}  // namespace ponk::cli
