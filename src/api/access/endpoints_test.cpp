// SPDX-License-Identifier: Apache-2.0
#include "api/access/endpoints.hpp"
#include "os/golden_test_support.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ponk::api {
namespace {

TEST(EndpointNotes, PortAndPinOutliveTheDaemon)
{
    const os::Path home = *os::make_temporary_directory(testing::TempDir(), "ponk-endpoints-");
    {
        Endpoints endpoints(home);
        EXPECT_EQ(endpoints.note(), EndpointNote());
        ASSERT_TRUE(endpoints.remember_port(23'457));
        ASSERT_TRUE(endpoints.set_pin(Endpoints::Pin::yes));
    }
    EXPECT_EQ(Endpoints(home).note(), (EndpointNote{23'457, true}));
    ASSERT_TRUE(Endpoints(home).set_pin(Endpoints::Pin::no));
    EXPECT_EQ(Endpoints(home).note(), (EndpointNote{23'457, false}));
    ASSERT_TRUE(os::replace_file(home / "listeners.json", "{"));
    EXPECT_EQ(Endpoints(home).note(), EndpointNote());
    static_cast<void>(os::remove_tree(home));
}

TEST(EndpointNoteFormat, IsAsDocumented)
{
    const os::Path golden = PONK_SOURCE_DIR "/tests/golden/api/endpoints.json";
    const auto text = endpoint_note_text({23'457, true});
    os::expect_golden(golden, text);
    EXPECT_EQ(*parse_endpoint_note(text), (EndpointNote{23'457, true}));
    for (const char* wrong :
         {"", "{}", R"({"version":2,"port":1})", R"({"version":1,"port":70000})"})
        EXPECT_FALSE(parse_endpoint_note(wrong)) << wrong;
}

}  // namespace
}  // namespace ponk::api
