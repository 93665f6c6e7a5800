// SPDX-License-Identifier: Apache-2.0
#include "mlflow/names.hpp"

#include <gtest/gtest.h>

namespace ponk::mlflow {
namespace {

TEST(MlflowNames, WordsOfAllScriptsAndFewSignsMakeAKey)
{
    for (const auto* key : {"a", "train/loss", "a.b-c:d e_f", "größe", "損失", "x/..y", ".hidden"})
        EXPECT_TRUE(is_key(key)) << key;
}

TEST(MlflowNames, OtherCharactersMakeNone)
{
    for (const auto* key :
         {"a\n", "a;b", "a\"b", "a\\b", "a#b", "a%b", "\xff", "a\u2014b", "\U0001F600"})
        EXPECT_FALSE(is_key(key)) << key;
}

TEST(MlflowNames, WhatWouldLeadElsewhereAsAPathIsNoKey)
{
    for (const auto* key : {"a/../b", "./a", "a//b", "/a", "a/", ".", "..", "..a", "a/."})
        EXPECT_FALSE(is_key(key)) << key;
}

TEST(MlflowNames, LengthsAreCountedInCharacters)
{
    std::string umlauts;
    for (int i = 0; i < 250; ++i)
        umlauts += "ü";
    EXPECT_TRUE(check_length("Metric name", umlauts, limits::key));
    const auto refused = check_length("Metric name", umlauts + "u", limits::key);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "'Metric name' exceeds the maximum length of 250 characters");
}

TEST(MlflowNames, ABatchHasLimits)
{
    EXPECT_TRUE(check_batch(800, 100, 100));
    EXPECT_FALSE(check_batch(1001, 0, 0));
    EXPECT_FALSE(check_batch(0, 101, 0));
    EXPECT_FALSE(check_batch(0, 0, 101));
    EXPECT_FALSE(check_batch(801, 100, 100));
}

}  // namespace
}  // namespace ponk::mlflow
