// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "mlflow/lone_surrogates.hpp"

#include <gtest/gtest.h>

namespace ponk::mlflow {
namespace {

TEST(HalfPairs, AreFoundAmongOtherEscapes)
{
    for (const auto* json :
         {R"("a\udcffb")", R"("\uDC80")", R"("\\\udc80")", R"("é\n\udcc3\udca9")"})
        EXPECT_TRUE(has_lone_surrogate(json)) << json;
    // A whole pair, a backslash before the letters, and no hexadecimal digits.
    for (const auto* json :
         {R"("\ud83d\udc80")", R"("\\udc80")", R"("\u00e9")", R"("\udcxy")", "\"\\", "\"\\udc"})
        EXPECT_FALSE(has_lone_surrogate(json)) << json;
}

TEST(HalfPairs, AreShownAsACharacterThatSaysSo)
{
    const JsonObject told{{"name", "caf\xe9 \xf0\x9f\x92\x80"}, {"path", "C:\\udc80"}};

    const auto shown = parse_json(without_lone_surrogates(net::json_response(told)).body).value();

    EXPECT_EQ(shown.text("name"), "caf\xef\xbf\xbd \xf0\x9f\x92\x80");
    EXPECT_EQ(shown.text("path"), "C:\\udc80");
    auto file = net::json_response(told);
    file.type = "text/plain";
    EXPECT_EQ(without_lone_surrogates(std::move(file)).body, net::json_response(told).body);
}

}  // namespace
}  // namespace ponk::mlflow
