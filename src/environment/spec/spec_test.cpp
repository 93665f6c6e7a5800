// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "environment/address/address.hpp"
#include "environment/spec/environment_test_support.hpp"
#include "environment/spec/python_version.hpp"
#include "environment/spec/spec.hpp"
#include "environment/spec/substitution.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

namespace ponk::environment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* storage = "https://store.example/wheels/tool-1.0-py3-none-any.whl";

PackageRequest package_request_of(std::string_view text, const Path& project = "/nowhere")
{
    auto packages = read_package_request(conda_of(text), project, "conda.yml");
    EXPECT_TRUE(packages.has_value()) << packages.error().message();
    return packages ? *packages : PackageRequest{};
}

EnvironmentSpec spec_of(std::string_view text)
{
    return {Form::prefix, "linux-64", "cpython 3.11.2", package_request_of(text)};
}

TEST(Address, HidesUsersTokensAndQueriesWhereverAnAddressStands)
{
    EXPECT_EQ(without_secrets("--index-url https://ann:tok@host.example/simple"),
              "--index-url https://***@host.example/simple");
    EXPECT_EQ(without_secrets("x https://a.example/t/tk-12/main?sig=1 y https://u@b.example/c?d#e"),
              "x https://a.example/t/***/main?*** y https://***@b.example/c?***#e");
    EXPECT_EQ(without_secrets("git+ssh://git@host.example/tool.git"),
              "git+ssh://git@host.example/tool.git");
    EXPECT_EQ(without_secrets("mail a@b.example, no address"), "mail a@b.example, no address");
}

TEST(Address, ARenewedSignatureIsTheSameAddressButAnotherSelectionIsNot)
{
    const auto identity = [](const std::string& query) {
        return address_identity(std::string(storage) + "?" + query);
    };
    EXPECT_EQ(identity("sv=1&sig=abc"), identity("sv=2&sig=xyz&se=2030-01-01"));
    EXPECT_NE(identity("version=1&sig=abc"), identity("version=2&sig=abc"));
    EXPECT_THAT(identity("version=1&sig=abc"), Not(HasSubstr("version")));
}

TEST(Address, CredentialsAreWhatLetsOneInAndNothingElse)
{
    EXPECT_THAT(
        credentials_in("--extra-index-url https://ann:hunt%40r22@host.example/simple\n"
                       "see 'https://h.example/x?page=seventeen&sig=abcdefgh', or "
                       "(https://tok-123456@git.example/y), https://c.example/t/tk-987654/m "
                       "git+ssh://git-user@host.example/z https://a:b@short.example"),
        ElementsAre("hunt%40r22", "hunt@r22", "abcdefgh", "tok-123456", "tk-987654"));
}

TEST(Address, ARedactorHidesTheValuesOutsideOfAddressesToo)
{
    Redactor redactor;
    redactor.add_secrets_of("--index-url https://ann:hunter22@host.example/simple");
    EXPECT_EQ(redactor.clean("401 for ann with hunter22, see http://u:p@x.example"),
              "401 for ann with ***, see http://***@x.example");
}

TEST(PythonVersion, FollowsCondasWaysToNameOne)
{
    EXPECT_TRUE(fits("3.11.2", ""));
    EXPECT_TRUE(fits("3.11.2", "=3.11"));
    EXPECT_TRUE(fits("3.11.2", "3.11.*"));
    EXPECT_FALSE(fits("3.1.2", "=3.11"));
    EXPECT_FALSE(fits("3.11.2", "=3.1"));
    EXPECT_FALSE(fits("3.5.4", "=3.5.2"));
    EXPECT_FALSE(fits("3.11.2", "==3.11"));
    EXPECT_TRUE(fits("3.11.2", "==3.11.2"));
    EXPECT_TRUE(fits("3.11.2", ">=3.6,<4"));
    EXPECT_TRUE(fits("3.11.2", "=2.7|>=3.9"));
    EXPECT_FALSE(fits("3.11.2", ">=3.6,!=3.11.*"));
    EXPECT_TRUE(fits("3.11.2", "~=3.9"));
    EXPECT_FALSE(fits("3.11.2", "~=3.9.0"));
    EXPECT_FALSE(fits("3.11.2", "=3.11=h123_0"));
    EXPECT_LT(compare_releases("3.9", "3.11"), 0);
}

TEST(PackageRequest, AFileWithJustPythonAndPipDoesNotNeedConda)
{
    const auto packages =
        package_request_of("dependencies:\n  - python=3.11\n  - pip\n  - setuptools=68.0\n"
                           "  - pip:\n    - numpy==1.26\n");
    EXPECT_FALSE(packages.needs_conda());
    EXPECT_EQ(packages.python, "=3.11");
    ASSERT_EQ(packages.pip.size(), 2U);
    EXPECT_EQ(packages.pip[0].text, "setuptools==68.0.*");
    EXPECT_EQ(packages.pip[1].text, "numpy==1.26");
}

TEST(PackageRequest, CondaPackagesKeepPipAmongThem)
{
    const auto packages =
        package_request_of("dependencies:\n  - python\n  - pip=9\n  - ipykernel=4.6.1\n");
    EXPECT_TRUE(packages.needs_conda());
    EXPECT_THAT(packages.conda, ElementsAre("ipykernel=4.6.1", "pip=9"));
}

TEST(PackageRequest, LocalWheelsAreKnownByTheirContentAndRequirementFilesAreTakenIn)
{
    const os::TestFolder folder;
    const auto wheel = folder.path() / "tool-1.0-py3-none-any.whl";
    ASSERT_TRUE(os::replace_file(wheel, "first"));
    ASSERT_TRUE(os::replace_file(folder.path() / "more.txt",
                                 "# comment\nrequests==2.0 \\\n  --hash=sha256:ab\n\nsix # why\n"));
    ASSERT_TRUE(os::make_directories(folder.path() / "wheels"));
    const std::string text = "dependencies:\n  - pip:\n    - ./tool-1.0-py3-none-any.whl\n"
                             "    - -r more.txt\n    - -f wheels\n";
    const auto key = [&] {
        return key_of({Form::prefix, "linux-64", "", package_request_of(text, folder.path())});
    };
    const auto packages = package_request_of(text, folder.path());
    ASSERT_EQ(packages.pip.size(), 4U);
    EXPECT_EQ(packages.pip[0].name, "tool");
    EXPECT_EQ(packages.pip[0].file->digest, sha256("first"));
    EXPECT_EQ(packages.pip[1].text, "requests==2.0 --hash=sha256:ab");
    EXPECT_EQ(packages.pip[2].text, "six");
    EXPECT_EQ(packages.pip[3].text, "--find-links " + (folder.path() / "wheels").string());
    const auto before = key();
    ASSERT_TRUE(os::replace_file(wheel, "other"));
    const auto other = key();
    EXPECT_NE(other, before);
    ASSERT_TRUE(os::replace_file(folder.path() / "wheels" / "new.whl", "x"));
    EXPECT_NE(key(), other);
}

TEST(PackageRequest, WhatCannotBeServedIsRefusedWithItsPlace)
{
    for (const auto* line :
         {"-e ../other", "missing-1.0-py3-none-any.whl", "numpy=1.13", "-c x.txt"}) {
        const auto text = fmt::format("dependencies:\n  - pip:\n    - {}\n", line);
        const auto packages = read_package_request(conda_of(text), "/nowhere", "conda.yml");
        ASSERT_FALSE(packages.has_value()) << line;
        EXPECT_THAT(packages.error().message(), HasSubstr("conda.yml:3:7"));
        EXPECT_THAT(packages.error().hint(), Not(IsEmpty())) << line;
    }
}

TEST(PackageRequest, PathsThatLeaveTheProjectAreRefusedWithTheirPlace)
{
    const os::TestFolder folder;
    const auto project = folder.path() / "project";
    const auto thesis = folder.path() / "thesis";
    const char* wheel = "tool-1.0-py3-none-any.whl";
    ASSERT_TRUE(os::make_directories(project / "wheels"));
    ASSERT_TRUE(os::make_directories(thesis));
    ASSERT_TRUE(os::replace_file(thesis / wheel, "x"));
    ASSERT_TRUE(os::replace_file(thesis / "more.txt", "the secret"));
    std::filesystem::create_symlink("../thesis", project / "linked");
    std::filesystem::create_symlink(thesis / "more.txt", project / "more.txt");
    std::filesystem::create_symlink("../../thesis/" + std::string(wheel),
                                    project / "wheels" / wheel);
    for (const std::string& line : {std::string("--find-links ../thesis"),
                                    "--find-links " + thesis.string(),
                                    "--find-links=file://" + thesis.string(),
                                    std::string("-f linked"),
                                    std::string("-f wheels"),
                                    "--extra-index-url file://" + thesis.string(),
                                    "../thesis/" + std::string(wheel),
                                    "linked/" + std::string(wheel),
                                    "wheels/" + std::string(wheel),
                                    (thesis / wheel).string(),
                                    "file://" + (thesis / wheel).string(),
                                    "tool @ file://localhost" + (thesis / wheel).string(),
                                    std::string("-r ../thesis/more.txt"),
                                    std::string("-r more.txt")}) {
        const auto text = fmt::format("dependencies:\n  - pip:\n    - \"{}\"\n", line);
        const auto packages = read_package_request(conda_of(text), project, "conda.yml");
        ASSERT_FALSE(packages.has_value()) << line;
        EXPECT_THAT(packages.error().message(), HasSubstr("conda.yml:3:7")) << line;
        EXPECT_THAT(packages.error().message(), HasSubstr("is outside the project")) << line;
        EXPECT_THAT(packages.error().message(), Not(HasSubstr("the secret")));
        EXPECT_THAT(packages.error().hint(), HasSubstr("PIP_FIND_LINKS"));
    }
}

TEST(PackageRequest, LinesOfARequirementsFileAreNamedByThatFile)
{
    const os::TestFolder folder;
    ASSERT_TRUE(os::make_directories(folder.path() / "deps"));
    ASSERT_TRUE(os::replace_file(folder.path() / "deps/more.txt", "six\n\n-f ../../x\n"));
    const auto packages = read_package_request(
        conda_of("dependencies:\n  - pip: [-r deps/more.txt]\n"), folder.path(), "conda.yml");
    ASSERT_FALSE(packages.has_value());
    EXPECT_THAT(packages.error().message(), HasSubstr("deps/more.txt:3:1"));
}

TEST(Key, DoesNotDependOnTheOrderOfPackagesNorOnBlanks)
{
    const auto first = spec_of("dependencies:\n  - b\n  - a\n  - pip: [\"x == 1\", y]\n");
    const auto second = spec_of("dependencies:\n  - a\n  - b\n  - pip: [y, x==1]\n");
    EXPECT_EQ(key_of(first), key_of(second));
    EXPECT_TRUE(is_key(key_of(first)));
}

TEST(Key, DependsOnEverythingThatDecidesTheContent)
{
    const std::string text = "channels: [one, two]\ndependencies:\n  - python=3.6\n  - a=1\n"
                             "  - pip: [--pre, x==1]\n";
    const auto key = key_of(spec_of(text));
    const auto changed = [&](std::string_view from, std::string_view to) {
        auto other = text;
        other.replace(other.find(from), from.size(), to);
        return key_of(spec_of(other));
    };
    EXPECT_NE(changed("[one, two]", "[two, one]"), key);
    EXPECT_NE(changed("3.6", "3.7"), key);
    EXPECT_NE(changed("a=1", "a=2"), key);
    EXPECT_NE(changed("x==1", "x==2"), key);
    EXPECT_NE(changed("--pre, ", ""), key);
    auto spec = spec_of(text);
    spec.base = "another";
    EXPECT_NE(key_of(spec), key);
    spec = spec_of(text);
    spec.form = Form::image;
    EXPECT_NE(key_of(spec), key);
    spec = spec_of(text);
    spec.platform = "linux-aarch64";
    EXPECT_NE(key_of(spec), key);
}

TEST(Key, HoldsNoSecretInItsText)
{
    const auto spec =
        spec_of(fmt::format("channels: [\"https://host.example/t/tok-channel/main\"]\n"
                            "dependencies:\n  - a\n  - pip:\n"
                            "    - --extra-index-url https://u:tok-index@h.example/s\n"
                            "    - {}?sig=tok-sas&st=x\n",
                            storage));
    EXPECT_THAT(to_json(describe(spec)), Not(HasSubstr("tok-")));
}

TEST(Key, ItsFormIsTheOneThatWasPublished)
{
    auto spec =
        spec_of("channels: [conda-forge]\ndependencies:\n  - python=3.5.2\n  - numpy\n"
                "  - ipykernel=4.6.1\n  - pip:\n    - --extra-index-url https://h.example/s\n"
                "    - requests==2.18.4\n    - click\n");
    spec.base = "";
    const Path golden(PONK_GOLDEN_FOLDER "/key.txt");
    const auto text = to_json(describe(spec)) + "\n" + key_of(spec) + "\n";
    if (std::getenv("PONK_UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(os::replace_file(golden, text, 0644));
    }
    EXPECT_EQ(text, os::read_file(golden).value());
}

TEST(Change, SaysWhichLinesCameAndWent)
{
    const auto before = describe(spec_of("dependencies:\n  - pip: [numpy==1.25, six]\n"));
    auto after = spec_of("dependencies:\n  - pip: [numpy==1.26, six]\n");
    EXPECT_EQ(describe_change(before, describe(after)),
              "the pip list changed: added 'numpy==1.26', removed 'numpy==1.25'");
    const auto option =
        describe(spec_of("dependencies:\n  - python=3.11\n  - pip: [numpy==1.25, --no-index]\n"));
    EXPECT_EQ(describe_change(option, before),
              "the pip list changed: added 'six', removed '--no-index'"
              "; the requested Python changed: any instead of '=3.11'");
    after.base = "cpython 3.12.1";
    EXPECT_THAT(describe_change(before, describe(after)),
                HasSubstr("the base changed: 'cpython 3.12.1' instead of 'cpython 3.11.2'"));
    EXPECT_EQ(describe_change(before, before), "");
}

TEST(Substitution, ReplacesWhatHasOneRightAnswerAndTellsEach)
{
    auto environment =
        conda_of("dependencies:\n  - python=3.5.2\n  - keras-gpu\n  - pip:\n"
                 "    - tensorflow-gpu==1.4.0\n    - sklearn\n    - json\n    - numpy=1.13\n"
                 "    - cntk\n    - --index-url https://azuremlsdktestpypi.azureedge.net/x\n"
                 "    - requests==2\n");
    const auto done = substitute(environment, Gpus::some);
    std::vector<std::string> pip;
    for (const auto& package : environment.pip)
        pip.push_back(package.text);
    EXPECT_THAT(
        pip,
        ElementsAre("tensorflow[and-cuda]", "scikit-learn", "numpy==1.13", "cntk", "requests==2"));
    ASSERT_EQ(environment.conda.size(), 2U);
    EXPECT_EQ(environment.conda[0].text, "python");
    EXPECT_EQ(environment.conda[1].text, "keras");
    ASSERT_EQ(done.size(), 7U);
    EXPECT_EQ(to_text(done[2], "conda.yml"),
              "conda.yml:5:7: 'tensorflow[and-cuda]' instead of 'tensorflow-gpu==1.4.0': the "
              "package 'tensorflow-gpu' was withdrawn from PyPI in 2022");
    EXPECT_THAT(substitute(environment, Gpus::some), IsEmpty());
}

TEST(Substitution, BringsNoCudaToATargetWithoutGpus)
{
    auto environment = conda_of("dependencies:\n  - pip: [tensorflow-gpu==1.4.0]\n");
    const auto done = substitute(environment, Gpus::none);
    ASSERT_EQ(environment.pip.size(), 1U);
    EXPECT_EQ(environment.pip[0].text, "tensorflow");
    ASSERT_EQ(done.size(), 1U);
    EXPECT_THAT(done[0].why, HasSubstr("has no GPU"));
}

}  // namespace
}  // namespace ponk::environment
