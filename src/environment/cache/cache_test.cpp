// SPDX-License-Identifier: Apache-2.0
#include "environment/cache/cache.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::environment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string first_key(32, 'a');
const std::string second_key = std::string(31, 'a') + "b";

class CacheTest : public testing::Test {
protected:
    Record add(const std::string& id, std::int64_t size = 10, int hours_ago = 0)
    {
        Record record;
        record.id = id;
        record.key = id.substr(0, 32);
        record.form = id.size() > 32 ? Form::image : Form::prefix;
        record.size = size;
        EXPECT_TRUE(cache.begin(id));
        EXPECT_TRUE(cache.publish(record, {}));
        const timespec then{::time(nullptr) - hours_ago * 3600L, 0};
        const timespec times[] = {then, then};
        EXPECT_EQ(::utimensat(AT_FDCWD, (cache.folder(id) / "used").c_str(), times, 0), 0);
        return record;
    }
    std::vector<std::string> ids()
    {
        std::vector<std::string> found;
        const auto entries = cache.list().value();
        for (const auto& entry : entries)
            found.push_back(entry.record.id);
        return found;
    }

    os::TestFolder folder;
    Cache cache{folder.path()};
};

TEST_F(CacheTest, WithoutItsRecordAnEnvironmentIsNone)
{
    ASSERT_TRUE(cache.begin(first_key));
    EXPECT_FALSE(cache.find(first_key).value().has_value());
    EXPECT_THAT(ids(), IsEmpty());
    add(second_key);
    EXPECT_THAT(ids(), ElementsAre(second_key));
    ASSERT_TRUE(cache.collect_garbage({}, {}));
    EXPECT_FALSE(std::filesystem::exists(cache.folder(first_key)));
    EXPECT_TRUE(std::filesystem::exists(cache.folder(second_key)));
}

TEST_F(CacheTest, ADamagedRecordIsAsGoodAsNone)
{
    add(first_key);
    ASSERT_TRUE(os::replace_file(cache.folder(first_key) / "environment.json", "{\"format\": 9}"));
    EXPECT_FALSE(cache.find(first_key).value().has_value());
}

TEST_F(CacheTest, NamesAreCompletedWhenTheyAreUnique)
{
    add(first_key);
    add(second_key);
    EXPECT_EQ(cache.get(first_key).value().id, first_key);
    EXPECT_EQ(cache.get("aa").error().kind(), ErrorKind::conflict);
    EXPECT_EQ(cache.get("b").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(cache.get("").error().kind(), ErrorKind::not_found);
    EXPECT_FALSE(cache.find("../../etc").value().has_value());
}

TEST_F(CacheTest, WhoeverHoldsItKeepsIt)
{
    const auto record = add(first_key);
    {
        const auto lease = cache.lock_for_use(first_key, {});
        const auto second = cache.lock_for_use(first_key, {});
        ASSERT_TRUE(lease && second);
        EXPECT_TRUE(cache.list().value().front().in_use);
        EXPECT_EQ(cache.remove(record, {}).error().kind(), ErrorKind::conflict);
        EXPECT_THAT(cache.collect_garbage({.largest_size = 1}, {}).value().removed, IsEmpty());
    }
    EXPECT_TRUE(cache.remove(record, {}));
    EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(CacheTest, GarbageGoesByAgeAndSpaceFromTheLongestUnused)
{
    const std::string third_key = std::string(31, 'a') + "c";
    add(first_key, 100, 50);
    add(second_key, 100, 30);
    add(third_key, 100, 1);
    const auto by_age = cache.collect_garbage({.largest_age = std::chrono::hours(40)}, {}).value();
    EXPECT_EQ(by_age.freed, 100);
    EXPECT_THAT(ids(), ElementsAre(third_key, second_key));
    ASSERT_TRUE(cache.collect_garbage({.largest_size = 150, .keep = {second_key}}, {}));
    EXPECT_THAT(ids(), ElementsAre(second_key));
    ASSERT_TRUE(cache.collect_garbage({.largest_size = 150}, {}));
    EXPECT_THAT(ids(), ElementsAre(second_key));
}

TEST_F(CacheTest, AnImageThatCannotBeRemovedKeepsItsRecord)
{
    const auto record = add(first_key + ".12345678");
    const auto refuse = [](const Record&) -> Result<std::vector<std::string>> {
        return fail(ErrorKind::conflict, "a container uses it");
    };
    EXPECT_FALSE(cache.remove(record, refuse));
    const auto result = cache.collect_garbage({.largest_size = 1}, refuse).value();
    EXPECT_THAT(result.problems, ElementsAre(HasSubstr("a container uses it")));
    EXPECT_THAT(ids(), ElementsAre(record.id));
    EXPECT_TRUE(
        cache.remove(record, [](const Record&) -> Result<std::vector<std::string>> { return {}; }));
}

TEST_F(CacheTest, AnImageThatAnEndedContainerHoldsFreesNothing)
{
    const auto held = [](const Record&) -> Result<std::vector<std::string>> {
        return std::vector<std::string>{"run-1"};
    };
    ASSERT_TRUE(cache.lock_for_use(first_key + ".12345678", {}));  // as its builder had it
    const auto first = cache.remove(add(first_key + ".12345678", 100), held);
    ASSERT_TRUE(first) << first.error().message();
    const auto removal = *first;
    EXPECT_EQ(removal.freed, 0);
    EXPECT_THAT(removal.held_by, ElementsAre("run-1"));

    // Against too much it is no help, so it stays; too old, it goes but counts for nothing.
    const auto record = add(first_key + ".12345678", 100, 50);
    const auto full = cache.collect_garbage({.largest_size = 1, .holders = held}, held).value();
    EXPECT_THAT(full.problems, ElementsAre(HasSubstr("container 'run-1' uses its layers")));
    EXPECT_THAT(ids(), ElementsAre(record.id));
    const auto old =
        cache.collect_garbage({.largest_age = std::chrono::hours(40), .holders = held}, held)
            .value();
    EXPECT_EQ(old.freed, 0);
    EXPECT_THAT(ids(), IsEmpty());
}

TEST_F(CacheTest, RemembersTheLastSpecOfAProjectOnATarget)
{
    EXPECT_FALSE(cache.last_spec("p", "t").has_value());
    ASSERT_TRUE(cache.note_spec("p", "t", JsonObject{{"base", "x"}}));
    EXPECT_EQ(cache.last_spec("p", "t")->text("base"), "x");
    EXPECT_FALSE(cache.last_spec("p", "other").has_value());
}

TEST_F(CacheTest, FilesLinkedTwiceCountOnce)
{
    ASSERT_TRUE(os::replace_file(folder.path() / "one", std::string(100'000, 'x')));
    const auto once = size_on_disk(folder.path()).value();
    std::filesystem::create_hard_link(folder.path() / "one", folder.path() / "two");
    EXPECT_EQ(size_on_disk(folder.path()).value(), once);
    EXPECT_GE(once, 100'000);
}

}  // namespace
}  // namespace ponk::environment
