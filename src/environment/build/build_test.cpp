// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "dockerapi/tar.hpp"
#include "environment/build/build_context.hpp"
#include "environment/build/build_image.hpp"
#include "environment/build/image_settings.hpp"
#include "environment/spec/environment_test_support.hpp"
#include "environment/tools/conda_tool.hpp"
#include "environment/tools/tool_run.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

#include <map>
#include <sys/stat.h>

namespace ponk::environment {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

PackageRequest package_request_of(std::string_view text)
{
    return read_package_request(conda_of(text), "/nowhere", "conda.yml").value();
}

const PackageRequest pip_only =
    package_request_of("dependencies:\n  - python=3.11\n  - pip: [six]\n");
const PackageRequest with_conda =
    package_request_of("channels: [main]\ndependencies:\n  - python\n  - numpy\n");

std::optional<Python> no_carrier()
{
    return std::nullopt;
}
std::optional<Python> some_carrier()
{
    return Python{.program = "/usr/bin/python3", .version = "3.11.2", .has_venv = true};
}

void write_program(const Path& file, const std::string& text)
{
    ASSERT_TRUE(os::replace_file(file, "#!/bin/sh\n" + text, 0755, os::Durable::no));
}

// A stand-in Python answers as one of that version would.
void write_python(const Path& file, const std::string& version, const char* venv = "true")
{
    write_program(file,
                  fmt::format("echo '{{\"name\": \"cpython\", \"version\": \"{}\", \"venv\": {}, "
                              "\"real\": \"{}\"}}'\n",
                              version,
                              venv,
                              file.string()));
}

class ChoiceTest : public testing::Test {
protected:
    Result<BuildPlan> choose(const PackageRequest& packages, const std::string& named = {})
    {
        return choose_builder(
            packages, named, settings_from(folder.path(), {"PATH=" + folder.path().string()}), {});
    }
    os::TestFolder folder;
};

TEST_F(ChoiceTest, PipAloneNeedsNoCondaEvenWhereItIs)
{
    write_python(folder.path() / "python3", "3.11.2");
    write_program(folder.path() / "conda", "exit 1\n");
    EXPECT_EQ(choose(pip_only).value().builder, Builder::venv);
    write_program(folder.path() / "uv", "exit 1\n");
    EXPECT_EQ(choose(pip_only).value().builder, Builder::uv);
    auto strange = pip_only;
    strange.pip.push_back({.text = "--pre", .is_option = true});
    const auto plan = choose(strange).value();
    EXPECT_EQ(plan.builder, Builder::venv);
    EXPECT_THAT(plan.reason, HasSubstr("'--pre' works only with pip"));
}

TEST_F(ChoiceTest, TheInterpreterWhoseNameHasTheVersionGoesFirst)
{
    write_python(folder.path() / "python3", "3.12.1");
    write_python(folder.path() / "python3.11", "3.11.2");
    EXPECT_EQ(choose(pip_only).value().python->version, "3.11.2");
    EXPECT_EQ(choose(pip_only, (folder.path() / "python3").string()).value().builder,
              Builder::rattler);
}

TEST_F(ChoiceTest, CondaPackagesGoToTheToolThatIsThereElseToRattlerElseNowhere)
{
    EXPECT_EQ(choose(with_conda).error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(choose(with_conda).error().hint(), HasSubstr("micromamba"));
    write_python(folder.path() / "python3", "3.9.1");
    EXPECT_FALSE(choose(with_conda).has_value());
    write_python(folder.path() / "python3", "3.11.2");
    EXPECT_EQ(choose(with_conda).value().builder, Builder::rattler);
    write_program(folder.path() / "pixi", "exit 1\n");
    EXPECT_EQ(choose(with_conda).value().builder, Builder::pixi);
    write_program(folder.path() / "conda", "exit 1\n");
    EXPECT_EQ(choose(with_conda).value().builder, Builder::conda);
    write_program(folder.path() / "micromamba", "exit 1\n");
    EXPECT_EQ(choose(with_conda).value().builder, Builder::micromamba);
}

TEST(CondaTool, ItsFilesSayWhatTheListSays)
{
    const auto packages =
        package_request_of("channels: [main, \"https://h.example/x\"]\ndependencies:\n"
                           "  - python=3.5.2\n  - one::numpy>=1.13,<2\n  - pip: [six]\n");
    EXPECT_EQ(conda_file(packages),
              "channels:\n  - \"main\"\n  - \"https://h.example/x\"\n  - nodefaults\n"
              "dependencies:\n  - \"python=3.5.2\"\n  - \"one::numpy>=1.13,<2\"\n  - \"pip\"\n");
    EXPECT_EQ(pixi_manifest(packages, "linux-64").value(),
              "[workspace]\nname = \"environment\"\nchannels = [\"main\", "
              "\"https://h.example/x\"]\nplatforms = [\"linux-64\"]\n\n[dependencies]\n"
              "\"python\" = \"3.5.2.*\"\n"
              "\"numpy\" = { version = \">=1.13,<2\", channel = \"one\" }\n\"pip\" = \"*\"\n");
    EXPECT_FALSE(
        pixi_manifest(package_request_of("dependencies:\n  - numpy=1.13=py35_0\n"), "linux-64")
            .has_value());
    EXPECT_THAT(plain_channels({"defaults", "/srv/channel", "nodefaults"}),
                ElementsAre("https://repo.anaconda.com/pkgs/main",
                            "https://repo.anaconda.com/pkgs/r",
                            "https://repo.anaconda.com/pkgs/free",
                            "file:///srv/channel"));
}

TEST(Tool, ItsErrorHoldsTheEndOfItsOutputWithoutSecretsAndAdvice)
{
    Redactor redactor;
    redactor.add_secrets_of("https://u:hunter22@h.example");
    std::vector<std::string> lines;
    const auto run = [&](const std::string& script) {
        return run_tool({.name = "pip",
                         .argv = {"/bin/sh", "-c", script},
                         .environment = {"PATH=/bin:/usr/bin"}},
                        redactor,
                        [&](const std::string& line) { lines.push_back(line); },
                        after(30s),
                        {});
    };
    EXPECT_TRUE(run("echo out; echo err >&2; printf 'no end'"));
    EXPECT_THAT(lines, ElementsAre("out", "err", "no end"));
    const auto failed = run("echo using hunter22; echo 'No space left on device'; exit 3");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message(),
              "pip ended with 3: No space left on device\nusing ***\nNo space left on device");
    EXPECT_THAT(failed.error().hint(), HasSubstr("Free disk space"));
}

TEST(Tool, WhatItLeavesBehindDoesNotKeepUsWaiting)
{
    const auto begin = boot_milliseconds();
    EXPECT_TRUE(run_tool({.name = "x",
                          .argv = {"/bin/sh", "-c", "sleep 1000 & echo done"},
                          .environment = {"PATH=/bin:/usr/bin"}},
                         {},
                         {},
                         after(60s),
                         {}));
    EXPECT_LT(boot_milliseconds() - begin, 30'000);
}

TEST(ImageWay, TheImagesOwnPythonThenItsCondaThenALayerFromHere)
{
    ImageFacts facts;
    EXPECT_FALSE(choose_image_way(pip_only, facts, no_carrier));
    EXPECT_EQ(choose_image_way(pip_only, facts, some_carrier).value().way, ImageWay::linked_here);
    facts.conda.push_back({Builder::conda, "/opt/conda/bin/conda"});
    EXPECT_EQ(choose_image_way(pip_only, facts, no_carrier).value().way, ImageWay::conda);
    EXPECT_EQ(choose_image_way(with_conda, facts, no_carrier).value().way, ImageWay::conda);
    facts.pythons = {{"/usr/bin/python3.12", "3.12.0", true}, {"/usr/bin/python3", "3.11.2", true}};
    const auto plan = choose_image_way(pip_only, facts, no_carrier).value();
    EXPECT_EQ(plan.way, ImageWay::venv);
    EXPECT_EQ(plan.python.program, "/usr/bin/python3");
    auto local = with_conda;
    local.channels = {"file:///srv/channel"};
    EXPECT_EQ(choose_image_way(local, facts, some_carrier).value().way, ImageWay::linked_here);
}

TEST(ImageProbe, UnderstandsItsOwnLinesAmongOthers)
{
    const auto facts = parse_probe("welcome to this image\r\n"
                                   "ponk-probe conda conda /opt/conda/bin/conda\n"
                                   "ponk-probe python 3.6.9 bare /usr/bin/python3\n"
                                   "ponk-probe python nonsense\n"
                                   "ponk-probe glibc glibc 2.27\n"
                                   "ponk-probe free overlay 100 40 60 40% /\nponk-probe end\n");
    EXPECT_TRUE(facts.has_shell);
    ASSERT_EQ(facts.conda.size(), 1U);
    ASSERT_EQ(facts.pythons.size(), 1U);
    EXPECT_FALSE(facts.pythons[0].has_venv);
    EXPECT_EQ(facts.glibc, "2.27");
    EXPECT_EQ(facts.free_space, 60U * 1024);
    EXPECT_FALSE(parse_probe("").has_shell);
}

TEST(ImageSettings, FilesTravelAndPathsFollowThem)
{
    const os::TestFolder folder;
    const auto bundle = (folder.path() / "bundle.pem").string();
    const auto wheels = (folder.path() / "wheels").string();
    ASSERT_TRUE(os::replace_file(bundle, "certificate"));
    ASSERT_TRUE(os::make_directories(wheels));
    const auto settings = settings_from(folder.path(),
                                        {"HTTPS_PROXY=http://p:1",
                                         "PIP_CERT=" + bundle,
                                         "SSL_CERT_FILE=" + bundle,
                                         "PIP_TARGET=/elsewhere",
                                         "PIP_FIND_LINKS=/not/there " + wheels,
                                         "REQUESTS_CA_BUNDLE=/not/there.pem",
                                         "UV_INDEX_URL=x",
                                         "HOME=/nowhere",
                                         "PIP_CONFIG_FILE=/nowhere/pip.conf"});
    BuildContextFiles files;
    const auto result = settings_for_image(settings, "pip", "/seen", files).value();
    EXPECT_THAT(result.proxies, ElementsAre(Pair("HTTPS_PROXY", "http://p:1")));
    std::map<std::string, std::string> others(result.others.begin(), result.others.end());
    EXPECT_EQ(others["PIP_CERT"], "/seen/file0");
    EXPECT_EQ(others["SSL_CERT_FILE"], "/seen/file0");
    EXPECT_EQ(others["PIP_FIND_LINKS"], "/seen/links0");
    EXPECT_FALSE(others.contains("PIP_TARGET"));
    EXPECT_FALSE(others.contains("REQUESTS_CA_BUNDLE"));
    EXPECT_THAT(pip_configuration("[global]\nindex-url = https://m.example/s\n[list]\ncert=x\n"),
                ElementsAre(Pair("PIP_INDEX_URL", "https://m.example/s")));
}

TEST(BuildContextFiles, AreSentAsTheyAre)
{
    const os::TestFolder folder;
    const auto tree = folder.path() / "tree";
    ASSERT_TRUE(os::make_directories(tree / "empty"));
    ASSERT_TRUE(os::replace_file(tree / "large", std::string(3'000'000, 'x'), 0755));
    std::filesystem::create_symlink("large", tree / "link");
    BuildContextFiles files;
    files.add_text("Dockerfile", "FROM x\n");
    ASSERT_TRUE(files.add_tree("prefix", tree));
    std::map<std::string, dockerapi::TarEntry> entries;
    std::uint64_t bytes = 0;
    dockerapi::TarReader reader({[&](const dockerapi::TarEntry& entry) -> Result<> {
                                     auto name = entry.path;
                                     if (name.ends_with('/')) name.pop_back();
                                     entries[name] = entry;
                                     return {};
                                 },
                                 [&](std::string_view data) -> Result<> {
                                     bytes += data.size();
                                     return {};
                                 }});
    const auto source = files.source();
    for (std::string piece;; piece.clear()) {
        ASSERT_TRUE(source(piece));
        if (piece.empty()) break;
        ASSERT_TRUE(reader.take(piece));
    }
    EXPECT_TRUE(reader.finish());
    EXPECT_EQ(bytes, 3'000'007U);
    EXPECT_EQ(entries.at("prefix/link").link, "large");
    EXPECT_EQ(entries.at("prefix/large").mode & 0777U, 0755U);
    EXPECT_EQ(entries.at("prefix/empty").kind, dockerapi::TarEntry::Kind::folder);
}

}  // namespace
}  // namespace ponk::environment
