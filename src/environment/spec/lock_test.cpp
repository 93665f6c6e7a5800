// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "environment/cache/record.hpp"
#include "environment/spec/lock.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

namespace ponk::environment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string digest(64, 'a');

Lock example()
{
    using Manager = LockedPackage::Manager;
    return {.platform = "linux-64",
            .python = "3.6.2",
            .packages = {{.manager = Manager::conda,
                          .name = "numpy",
                          .version = "1.13.3",
                          .build = "py36_0",
                          .source = "https://host.example/t/***/main/linux-64/numpy.tar.bz2",
                          .sha256 = {digest},
                          .md5 = std::string(32, 'b')},
                         {.name = "own",
                          .version = "0.1",
                          .source = "file:own-0.1-py3-none-any.whl",
                          .direct = true,
                          .sha256 = {digest}},
                         {.name = "signed",
                          .version = "1.0",
                          .source = "https://s.example/signed-1.0-py3-none-any.whl?***",
                          .direct = true,
                          .sha256 = {digest}},
                         {.name = "six",
                          .version = "1.16.0",
                          .source = "https://index.example/simple",
                          .sha256 = {digest, std::string(64, 'c')}}}};
}

TEST(Lock, ItsTextIsTheOneThatWasPublished)
{
    const Path golden(PONK_GOLDEN_FOLDER "/lock.json");
    if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(os::replace_file(golden, to_text(example()), 0644));
    }
    const auto text = os::read_file(golden).value();
    EXPECT_EQ(to_text(example()), text);
    EXPECT_EQ(to_text(parse_lock(text).value()), text);
}

TEST(Record, ItsTextIsTheOneThatWasPublished)
{
    Record record{.id = std::string(32, '1') + ".01234567",
                  .key = std::string(32, '1'),
                  .form = Form::image,
                  .target = "docker",
                  .builder = "conda in the image",
                  .choice = "conda packages are required",
                  .reason = "the pip list changed: +six",
                  .interpreter = "/opt/ponk/env/bin/python",
                  .prefix = "/opt/ponk/env",
                  .image = "sha256:" + digest,
                  .engine = "ABCD:EFGH",
                  .socket = "/run/docker.sock",
                  .base_image = "team/base:1",
                  .spec = JsonObject{{"base", "sha256:0"}},
                  .lock_digest = digest,
                  .packages = 4,
                  .size = 1000,
                  .built = 1'700'000'000'000};
    const Path golden(PONK_GOLDEN_FOLDER "/environment.json");
    const auto text = to_json(to_json(record), JsonStyle::pretty) + "\n";
    if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(os::replace_file(golden, text, 0644));
    }
    EXPECT_EQ(text, os::read_file(golden).value());
    EXPECT_EQ(to_json(to_json(parse_record(text).value()), JsonStyle::pretty) + "\n", text);
    EXPECT_FALSE(parse_record("{}").has_value());
}

TEST(Lock, RefusesWhatNoInstallerShouldRead)
{
    const auto with = [](std::string from, const std::string& to) {
        auto text = to_text(example());
        return parse_lock(text.replace(text.find(from), from.size(), to));
    };
    EXPECT_FALSE(parse_lock("").has_value());
    EXPECT_FALSE(parse_lock("[]").has_value());
    EXPECT_FALSE(with("\"format\": 1", "\"format\": 2").has_value());
    EXPECT_FALSE(with("six", "six --index-url=http").has_value());
    EXPECT_FALSE(with("six", "--pre").has_value());
    EXPECT_FALSE(with("1.16.0", "1.16.0\\n-r x").has_value());
    EXPECT_FALSE(with("index.example/simple", "index.example/simple -r x").has_value());
    EXPECT_FALSE(with(digest, "no digest").has_value());
    EXPECT_TRUE(with("1.16.0", "1!1.16.0+local.1").has_value());
}

TEST(Lock, NeverTakesInASecret)
{
    auto text = to_text(example());
    const std::string plain = "https://index.example/simple";
    text.replace(text.find(plain), plain.size(), "https://u:tok@index.example/simple?sig=1");
    EXPECT_THAT(to_text(parse_lock(text).value()), Not(HasSubstr("tok")));
}

TEST(Lock, ExactLinesTakeHiddenAddressesAndFilesFromTheWishes)
{
    PackageRequest packages;
    packages.pip = {
        {.text = "--index-url https://u:tok@h.example", .is_option = true},
        {.text = "/w/own-0.1-py3-none-any.whl",
         .name = "own",
         .file = LocalFile{"/w/own-0.1-py3-none-any.whl", {}}},
        {.text = "https://s.example/signed-1.0-py3-none-any.whl?sig=x", .name = "signed"},
        {.text = "six", .name = "six"}};
    const auto hash = " --hash=sha256:" + digest;
    EXPECT_THAT(exact_lines(example(), packages).value(),
                ElementsAre("--index-url https://u:tok@h.example",
                            "own @ file:///w/own-0.1-py3-none-any.whl" + hash,
                            "signed @ https://s.example/signed-1.0-py3-none-any.whl?sig=x" + hash,
                            "six==1.16.0" + hash + " --hash=sha256:" + std::string(64, 'c')));
    packages.pip.erase(packages.pip.begin() + 2);
    EXPECT_THAT(exact_lines(example(), packages).error().message(), HasSubstr("signed"));
}

TEST(Lock, WithoutAChecksumForAllNoneIsAskedFor)
{
    auto lock = example();
    lock.packages = {{.name = "tool",
                      .version = "1",
                      .source = "git+https://h.example/tool@0123",
                      .direct = true},
                     {.name = "six", .version = "1.16.0", .sha256 = {digest}}};
    EXPECT_THAT(exact_lines(lock, {}).value(),
                ElementsAre("tool @ git+https://h.example/tool@0123", "six==1.16.0"));
}

TEST(Lock, AnExplicitListHasItsTokensBack)
{
    const auto list = explicit_list(example(), {"https://host.example/t/secret/main"}).value();
    EXPECT_EQ(list,
              "@EXPLICIT\nhttps://host.example/t/secret/main/linux-64/numpy.tar.bz2#" +
                  std::string(32, 'b') + "\n");
    EXPECT_FALSE(explicit_list(example(), {}).has_value());
}

}  // namespace
}  // namespace ponk::environment
