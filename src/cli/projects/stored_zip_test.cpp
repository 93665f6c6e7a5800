// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/stored_zip.hpp"

#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

std::string little(std::size_t value, std::size_t width)
{
    std::string out;
    for (std::size_t i = 0; i < width; ++i)
        out += static_cast<char>(value >> (8 * i) & 0xffU);
    return out;
}

// An archive of one executable file, stored.
std::string archive_of(const std::string& name, const std::string& bytes)
{
    const std::string sizes = little(bytes.size(), 4) + little(bytes.size(), 4);
    const std::string local = "PK\x03\x04" + std::string(14, '\0') + sizes +
                              little(name.size(), 2) + little(0, 2) + name + bytes;
    const std::string entry = "PK\x01\x02" + std::string(16, '\0') + sizes +
                              little(name.size(), 2) + std::string(8, '\0') +
                              little(std::size_t{0100755} << 16U, 4) + little(0, 4) + name;
    return local + entry + "PK\x05\x06" + std::string(4, '\0') + little(1, 2) + little(1, 2) +
           little(entry.size(), 4) + little(local.size(), 4) + little(0, 2);
}

TEST(StoredZip, gives_names_bytes_and_modes)
{
    const std::string archive = archive_of("hello/a b.py", "print(1)\n");
    const auto entries = read_stored_zip(archive);
    ASSERT_TRUE(entries) << entries.error().message();
    ASSERT_EQ(entries->size(), 1U);
    EXPECT_EQ((*entries)[0].name, "hello/a b.py");
    EXPECT_EQ((*entries)[0].bytes, "print(1)\n");
    EXPECT_TRUE((*entries)[0].executable);
}

TEST(StoredZip, refuses_names_that_lead_outside)
{
    for (const char* name : {"../x", "a/../../x", "/etc/x", "a//b", "./x", ""}) {
        EXPECT_FALSE(read_stored_zip(archive_of(name, "x"))) << name;
    }
}

TEST(StoredZip, cut_or_changed_bytes_never_lead_past_the_end)
{
    const std::string archive = archive_of("hello/x.py", "print(1)\n");
    for (std::size_t size = 0; size < archive.size(); ++size) {
        EXPECT_FALSE(read_stored_zip(std::string_view(archive).substr(0, size))) << size;
    }
    for (std::size_t at = 0; at < archive.size(); ++at) {
        std::string changed = archive;
        changed[at] = '\xff';
        const auto entries = read_stored_zip(changed);
        if (!entries) continue;
        for (const ZipEntry& entry : *entries) {
            EXPECT_LE(entry.bytes.data() + entry.bytes.size(), changed.data() + changed.size())
                << at;
        }
    }
}

}  // namespace
}  // namespace ponk::cli
