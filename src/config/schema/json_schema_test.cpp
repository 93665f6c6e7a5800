// SPDX-License-Identifier: Apache-2.0
#include "config/schema/json_schema.hpp"
#include "config/schema/key_meanings.hpp"
#include "config/schema/schemas.hpp"
#include "os/golden_test_support.hpp"

#include <gtest/gtest.h>

namespace ponk::config {
namespace {

void expect_meanings(const Schema& schema)
{
    for (const Key& key : schema.keys) {
        EXPECT_NE(meaning_of(schema, key), "") << schema.what << ": " << key.name;
        if (key.section != nullptr) expect_meanings(*key.section);
    }
}

TEST(JsonSchemaTest, EveryKeyOfEveryFileHasAMeaning)
{
    for (const Schema* schema : {&compute_schema(),
                                 &flat_run_schema(),
                                 &nested_run_schema(),
                                 &conda_schema(),
                                 &spark_schema(),
                                 &project_schema(),
                                 &mlproject_schema()})
        expect_meanings(*schema);
}

TEST(JsonSchemaTest, EachKindHasTheFormOfItsGoldenFile)
{
    const os::Path folder = PONK_SOURCE_DIR "/tests/golden/json-schema";
    for (const std::string_view kind : json_schema_kinds()) {
        const auto schema = find_json_schema(kind);
        ASSERT_TRUE(schema) << kind;
        os::expect_golden(folder / (std::string(kind) + ".json"),
                          to_json(*schema, JsonStyle::pretty) + "\n");
    }
}

TEST(JsonSchemaTest, AnUnknownKindHasNone)
{
    EXPECT_FALSE(find_json_schema("notebook"));
}

}  // namespace
}  // namespace ponk::config
