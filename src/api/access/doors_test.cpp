// SPDX-License-Identifier: Apache-2.0
#include "api/access/doors.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::api {
namespace {

TEST(DoorNotes, PortAndPinOutliveTheDaemon)
{
    const os::Path home = *os::make_temporary_directory(testing::TempDir(), "ponk-doors-");
    {
        Doors doors(home);
        EXPECT_EQ(doors.note(), DoorNote());
        ASSERT_TRUE(doors.remember_port(23'457));
        ASSERT_TRUE(doors.set_pin(Doors::Pin::yes));
    }
    EXPECT_EQ(Doors(home).note(), (DoorNote{23'457, true}));
    ASSERT_TRUE(Doors(home).set_pin(Doors::Pin::no));
    EXPECT_EQ(Doors(home).note(), (DoorNote{23'457, false}));
    ASSERT_TRUE(os::replace_file(home / "doors.json", "{"));
    EXPECT_EQ(Doors(home).note(), DoorNote());
    static_cast<void>(os::remove_tree(home));
}

TEST(DoorFormat, IsAsDocumented)
{
    const os::Path golden = PONK_SOURCE_DIR "/tests/golden/api/doors.json";
    const auto text = door_text({23'457, true});
    if (std::getenv("PONK_ACCEPT") != nullptr)
        static_cast<void>(os::replace_file(golden, text, 0644));
    EXPECT_EQ(text, os::read_file(golden).value_or(""));
    EXPECT_EQ(*parse_door(text), (DoorNote{23'457, true}));
    for (const char* wrong :
         {"", "{}", R"({"version":2,"port":1})", R"({"version":1,"port":70000})"})
        EXPECT_FALSE(parse_door(wrong)) << wrong;
}

}  // namespace
}  // namespace ponk::api
