// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "secrets/sealed_file.hpp"
#include "secrets/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ponk::secrets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SecretsTest : public testing::Test {
protected:
    [[nodiscard]] Path file(const std::string& name) const
    {
        return home_ / "secrets" / (name + ".secret");
    }
    static mode_t mode(const Path& path)
    {
        struct stat info {};
        return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
    }

    os::TestFolder place_;
    Path home_ = place_.path();
    Secrets secrets_{home_, Secrets::Keyring::never};
};

TEST_F(SecretsTest, GivesBackWhatWasSet)
{
    const std::string value("any \0 bytes \xff\n", 13);

    const auto info = secrets_.set("TOKEN", value);

    ASSERT_TRUE(info) << info.error().message();
    EXPECT_EQ(info->where, Place::file);
    EXPECT_EQ(secrets_.get("TOKEN").value(), value);
    const auto all = secrets_.list().value();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].name, "TOKEN");
    EXPECT_GT(all[0].updated, 0);
}

TEST_F(SecretsTest, WritesNothingThatOthersCouldRead)
{
    ASSERT_TRUE(secrets_.set("TOKEN", "hunter2 hunter2"));

    EXPECT_EQ(mode(home_ / "secrets"), 0700U);
    const auto entries = os::list_directory(home_ / "secrets").value();
    for (const auto& entry : entries) {
        const auto path = home_ / "secrets" / entry.name;
        EXPECT_EQ(mode(path), 0600U) << entry.name;
        const auto bytes = os::read_file(path).value();
        EXPECT_EQ(bytes.find("hunter2"), std::string::npos) << entry.name;
        EXPECT_EQ(bytes.find(to_hex("hunter2")), std::string::npos) << entry.name;
    }
}

TEST_F(SecretsTest, KeepsEarlierValuesForRedactionOnly)
{
    ASSERT_TRUE(secrets_.set("TOKEN", "first"));
    ASSERT_TRUE(secrets_.set("TOKEN", "second"));
    ASSERT_TRUE(secrets_.set("OTHER", "third"));

    EXPECT_EQ(secrets_.get("TOKEN").value(), "second");
    EXPECT_THAT(secrets_.values_for_redaction({"TOKEN"}).value(),
                UnorderedElementsAre("first", "second"));

    ASSERT_TRUE(secrets_.remove("TOKEN"));
    EXPECT_EQ(secrets_.get("TOKEN").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(secrets_.list().value().size(), 1U);
    EXPECT_THAT(secrets_.values_for_redaction({"TOKEN", "never set"}).error().message(),
                HasSubstr("never set"));
    EXPECT_THAT(secrets_.values_for_redaction({"TOKEN", "NEVER_SET"}).value(),
                UnorderedElementsAre("first", "second"));

    ASSERT_TRUE(secrets_.purge("TOKEN"));
    EXPECT_THAT(secrets_.values_for_redaction({"TOKEN"}).value(), IsEmpty());
    EXPECT_EQ(secrets_.get("OTHER").value(), "third");
}

TEST_F(SecretsTest, ARemovedSecretCanBeSetAgain)
{
    ASSERT_TRUE(secrets_.set("TOKEN", "first"));
    ASSERT_TRUE(secrets_.remove("TOKEN"));
    ASSERT_TRUE(secrets_.set("TOKEN", "second"));

    EXPECT_EQ(secrets_.get("TOKEN").value(), "second");
    EXPECT_THAT(secrets_.values_for_redaction({"TOKEN"}).value(),
                UnorderedElementsAre("first", "second"));
}

TEST_F(SecretsTest, SuggestsTheNameThatWasMeant)
{
    ASSERT_TRUE(secrets_.set("DB_PASSWORD", "hunter2"));

    const auto missing = secrets_.get("DB_PASWORD");

    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().message(), "there is no secret 'DB_PASWORD'");
    EXPECT_EQ(missing.error().hint(), "Did you mean 'DB_PASSWORD'?");
    EXPECT_EQ(secrets_.remove("NOPE").error().kind(), ErrorKind::not_found);
    EXPECT_EQ(secrets_.purge("NOPE").error().kind(), ErrorKind::not_found);
}

TEST_F(SecretsTest, RefusesNamesThatCouldLeaveTheFolder)
{
    for (const auto* name : {"", "../x", "a/b", ".key", "-x", "a b", "a\nb", "\xff"}) {
        EXPECT_EQ(secrets_.set(name, "value").error().kind(), ErrorKind::invalid_argument) << name;
        EXPECT_FALSE(secrets_.get(name)) << name;
    }
    EXPECT_FALSE(secrets_.set(std::string(129, 'a'), "value"));
    EXPECT_FALSE(secrets_.set("EMPTY", ""));
    EXPECT_TRUE(secrets_.set("a.b-C_9", "value"));
}

TEST_F(SecretsTest, ADamagedFileConcernsNoOther)
{
    ASSERT_TRUE(secrets_.set("GOOD", "good value"));
    ASSERT_TRUE(secrets_.set("BAD", "bad value"));
    auto bytes = os::read_file(file("BAD")).value();
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    ASSERT_TRUE(os::replace_file(file("BAD"), bytes));

    EXPECT_EQ(secrets_.get("BAD").error().kind(), ErrorKind::damaged);
    EXPECT_THAT(secrets_.get("BAD").error().message(), HasSubstr("BAD.secret' is damaged"));
    EXPECT_FALSE(secrets_.values_for_redaction({"BAD"}));
    EXPECT_EQ(secrets_.get("GOOD").value(), "good value");
    const auto all = secrets_.list().value();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_THAT(all[0].problem, HasSubstr("damaged"));

    ASSERT_TRUE(secrets_.set("BAD", "new value"));
    EXPECT_EQ(secrets_.get("BAD").value(), "new value");
    bool kept = false;
    const auto entries = os::list_directory(home_ / "secrets").value();
    for (const auto& entry : entries)
        kept = kept || (entry.name.starts_with("BAD.damaged-") &&
                        os::read_file(home_ / "secrets" / entry.name).value() == bytes);
    EXPECT_TRUE(kept);
}

TEST_F(SecretsTest, OneFileCannotStandInForAnother)
{
    ASSERT_TRUE(secrets_.set("HARMLESS", "visible"));
    ASSERT_TRUE(secrets_.set("PRECIOUS", "hidden"));
    auto stolen = parse_sealed_file(os::read_file(file("PRECIOUS")).value()).value();
    stolen.name = "HARMLESS";
    ASSERT_TRUE(os::replace_file(file("HARMLESS"), to_text(stolen)));

    EXPECT_EQ(secrets_.get("HARMLESS").error().kind(), ErrorKind::damaged);
}

TEST_F(SecretsTest, SaysWhenTheKeyIsGoneOrOpenToOthers)
{
    ASSERT_TRUE(secrets_.set("TOKEN", "value"));
    const auto key = home_ / "secrets" / ".key";

    ASSERT_EQ(::chmod(key.c_str(), 0644), 0);
    EXPECT_THAT(secrets_.get("TOKEN").error().message(), HasSubstr("others can read it"));
    ASSERT_EQ(::chmod(key.c_str(), 0600), 0);
    EXPECT_TRUE(secrets_.get("TOKEN"));

    ASSERT_EQ(::unlink(key.c_str()), 0);
    EXPECT_THAT(secrets_.get("TOKEN").error().message(), HasSubstr("a key that is not in"));
    // Setting others goes on, with another key.
    ASSERT_TRUE(secrets_.set("OTHER", "other value"));
    EXPECT_EQ(secrets_.get("OTHER").value(), "other value");
    EXPECT_EQ(secrets_.get("TOKEN").error().kind(), ErrorKind::damaged);
}

TEST_F(SecretsTest, ManyProcessesAndThreadsLoseNothing)
{
    constexpr int writers = 4;
    constexpr int times = 4;
    std::vector<pid_t> children;
    for (int writer = 0; writer < writers; ++writer) {
        const pid_t child = ::fork();
        if (child == 0) {
            bool good = true;
            for (int i = 0; i < times; ++i)
                good = good && secrets_.set("SHARED", fmt::format("value {} {}", writer, i));
            ::_exit(good ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }

    EXPECT_EQ(secrets_.values_for_redaction({"SHARED"}).value().size(),
              std::size_t{writers * times});
}

TEST(SealedFile, ReadsBackAndNoticesEveryChange)
{
    const SealedFile file{
        "TOKEN",
        {{1, Place::file, true, 5, "k", "sealed"}, {2, Place::keyring, false, 6, "item", ""}}};
    const auto text = to_text(file);

    const auto back = parse_sealed_file(text);

    ASSERT_TRUE(back);
    EXPECT_EQ(to_text(*back), text);
    ASSERT_TRUE(back->current());
    EXPECT_EQ(back->current()->number, 2);
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto changed = text;
        changed[i] = static_cast<char>(changed[i] ^ 0x20);
        const auto read = parse_sealed_file(changed);
        // Hex digits of the checksum may change their case.
        EXPECT_TRUE(!read || to_text(*read) == text) << i;
    }
}

// The program's interface, with files in place of a desktop.
constexpr const char* fake_tool = R"sh(#!/bin/sh
verb="$1"; shift
case "$1" in --label=*) shift;; esac
file="$FAKE_KEYRING/$(echo "$*" | tr ' /' '__')"
echo "$verb $*" >> "$FAKE_KEYRING/calls"
[ -e "$FAKE_KEYRING/locked" ] && { echo "secret-tool: Cannot unlock" >&2; exit 1; }
case "$verb" in
store) cat > "$file";;
lookup) [ -e "$file" ] || exit 1; cat "$file";;
search) shift; [ -e "$FAKE_KEYRING/$(echo "$*" | tr ' /' '__')" ] && echo "[/1]"; exit 0;;
clear) rm -f "$file";;
esac
)sh";

class KeyringTest : public SecretsTest {
protected:
    KeyringTest()
    {
        EXPECT_TRUE(os::make_directories(tools_));
        EXPECT_TRUE(os::replace_file(tools_ / "secret-tool", fake_tool, 0700));
        ::setenv("PATH", (tools_.native() + ":" + path_).c_str(), 1);
        ::setenv("FAKE_KEYRING", tools_.c_str(), 1);
        ::setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent", 1);
    }
    ~KeyringTest() override
    {
        ::setenv("PATH", path_.c_str(), 1);
        ::unsetenv("FAKE_KEYRING");
        ::unsetenv("DBUS_SESSION_BUS_ADDRESS");
    }

    std::string path_ = ::getenv("PATH");
    Path tools_ = home_ / "tools";
    Secrets desktop_{home_};
};

TEST_F(KeyringTest, IsPreferredWhenItIsThere)
{
    const auto info = desktop_.set("TOKEN", "hunter2\n");

    ASSERT_TRUE(info);
    EXPECT_EQ(info->where, Place::keyring);
    EXPECT_EQ(desktop_.get("TOKEN").value(), "hunter2\n");
    ASSERT_TRUE(desktop_.set("TOKEN", "second"));
    EXPECT_THAT(desktop_.values_for_redaction({"TOKEN"}).value(),
                UnorderedElementsAre("hunter2\n", "second"));
    const auto calls = os::read_file(tools_ / "calls").value();
    EXPECT_EQ(calls.find("hunter2"), std::string::npos);
    EXPECT_EQ(calls.find(to_hex("hunter2")), std::string::npos);

    ASSERT_TRUE(desktop_.purge("TOKEN"));
    EXPECT_EQ(os::list_directory(tools_).value().size(), 2U);  // the program and its calls
}

TEST_F(KeyringTest, IsNotUsedWhenItIsLocked)
{
    ASSERT_TRUE(os::replace_file(tools_ / "locked", ""));

    EXPECT_EQ(desktop_.set("TOKEN", "value").value().where, Place::file);
    EXPECT_EQ(desktop_.get("TOKEN").value(), "value");
}

TEST_F(KeyringTest, AValueThatCannotBeReadIsNeverLeftOutOfRedaction)
{
    ASSERT_TRUE(desktop_.set("TOKEN", "value"));
    ASSERT_TRUE(os::replace_file(tools_ / "locked", ""));

    EXPECT_EQ(desktop_.get("TOKEN").error().kind(), ErrorKind::unavailable);
    EXPECT_EQ(desktop_.values_for_redaction({"TOKEN"}).error().kind(), ErrorKind::unavailable);
}

}  // namespace
}  // namespace ponk::secrets
