// SPDX-License-Identifier: Apache-2.0
#include "config/packages/package_file.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>

namespace ponk::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PackageFileTest : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text)
    {
        const auto path = folder_.path() / name;
        ASSERT_TRUE(os::make_directories(path.parent_path()));
        ASSERT_TRUE(os::replace_file(path, text, 0644));
    }

    CondaEnvironment read(const std::string& name)
    {
        Report report(name);
        auto packages = read_package_file(folder_.path(), name, report);
        problems_.clear();
        for (const auto& each : report.take())
            problems_.push_back(to_text(each));
        return packages.value_or(CondaEnvironment());
    }

    static std::vector<std::string> texts(const std::vector<Package>& packages)
    {
        std::vector<std::string> all;
        for (const auto& package : packages)
            all.push_back(package.text);
        return all;
    }

    os::TestFolder folder_;
    std::vector<std::string> problems_;
};

TEST_F(PackageFileTest, ReadsTheProjectTable)
{
    write("pyproject.toml",
          "\xef\xbb\xbf[project]\r\nname = \"x\"\r\nrequires-python = \">=3.10, !=3.10.1, <4\"\r\n"
          "dependencies = [\r\n  \"numpy>=1.26\",\r\n  \"tomli ; python_version < "
          "'3.11'\",\r\n]\r\n");
    const auto found = read("pyproject.toml");
    EXPECT_THAT(problems_, IsEmpty());
    EXPECT_THAT(texts(found.pip), ElementsAre("numpy>=1.26", "tomli ; python_version < '3.11'"));
    EXPECT_THAT(texts(found.conda), ElementsAre("python>=3.10,<4"));
    EXPECT_EQ(found.pip[0].place.line, 5U);
    EXPECT_TRUE(names_packages(folder_.path(), "pyproject.toml"));
    EXPECT_FALSE(own_modules(folder_.path()));
}

TEST_F(PackageFileTest, PythonVersionsAreConstraintsOfConda)
{
    const auto python = [this](const std::string& wanted) {
        write("pyproject.toml",
              "[project]\nrequires-python = \"" + wanted + "\"\ndependencies = [\"a\"]\n");
        const auto found = read("pyproject.toml");
        return found.conda.empty() ? "" : found.conda[0].text;
    };
    EXPECT_EQ(python("~=3.10"), "python>=3.10,<4");
    EXPECT_EQ(python("~=3.10.2"), "python>=3.10.2,<3.11");
    EXPECT_EQ(python("==3.11.*"), "python=3.11");
    EXPECT_EQ(python("!=3.9"), "");
}

TEST_F(PackageFileTest, AFileOfSettingsNamesNoPackages)
{
    write("pyproject.toml", "[tool.ruff]\nline-length = 100\n[build-system]\nrequires = []\n");
    EXPECT_FALSE(names_packages(folder_.path(), "pyproject.toml"));
    EXPECT_EQ(own_modules(folder_.path()), ".");
    write("src/x/__init__.py", "");
    EXPECT_EQ(own_modules(folder_.path()), "src");
    write("pyproject.toml", "[project]\nname = \"x\"\ndependencies = []\n");
    EXPECT_FALSE(names_packages(folder_.path(), "pyproject.toml"));
    EXPECT_FALSE(names_packages(folder_.path(), "requirements.txt"));
}

TEST_F(PackageFileTest, MistakesHaveTheirPlace)
{
    write("pyproject.toml", "[project]\ndependencies = [\"a\",, \"b\"]\n");
    read("pyproject.toml");
    EXPECT_THAT(problems_, ElementsAre(HasSubstr("pyproject.toml:2:")));
    EXPECT_TRUE(names_packages(folder_.path(), "pyproject.toml"));
    write("pyproject.toml", "[project]\ndependencies = [\"-r other.txt\", 3]\n");
    read("pyproject.toml");
    EXPECT_THAT(problems_,
                ElementsAre(HasSubstr("pyproject.toml:2:17: error: '-r other.txt' is an option"),
                            HasSubstr("a package needs to be text")));
}

TEST_F(PackageFileTest, ReadsMetadataOfScripts)
{
    write("train.py",
          "#!/usr/bin/env python\n# /// script\n# requires-python = \">=3.11\"\n"
          "# dependencies = [\n#   \"torch==2.5.*\",\n# ]\n# ///\nimport torch\n");
    EXPECT_TRUE(names_packages(folder_.path(), "train.py"));
    const auto found = read("train.py");
    EXPECT_THAT(texts(found.pip), ElementsAre("torch==2.5.*"));
    EXPECT_EQ(found.pip[0].place.line, 5U);
    write("plain.py", "# /// script\n# dependencies = [\"a\"]\nprint(1)\n# ///\n");
    EXPECT_FALSE(names_packages(folder_.path(), "plain.py"));
}

TEST_F(PackageFileTest, ALockIsPinnedConditionalAndChecked)
{
    const std::string one(64, '1');
    const std::string two(64, '2');
    write(
        "uv.lock",
        "version = 1\nrequires-python = \">=3.11\"\n"
        "[[package]]\nname = \"app\"\nversion = \"0.1.0\"\nsource = { virtual = \".\" }\n"
        "dependencies = [{ name = \"torch\" }, "
        "{ name = \"colorama\", marker = \"sys_platform == 'win32'\" }, "
        "{ name = \"fast\", extra = [\"speed\"] }]\n"
        "[package.dev-dependencies]\ndev = [{ name = \"pytest\" }]\nother = [{ name = \"idle\" }]\n"
        "[[package]]\nname = \"torch\"\nversion = \"2.5.0+cu124\"\n"
        "source = { registry = \"https://wheels.example/cu124\" }\n"
        "dependencies = [{ name = \"numpy\" }]\n"
        "wheels = [{ url = \"u\", hash = \"sha256:" +
            one +
            "\" }, "
            "{ url = \"v\", hash = \"sha256:" +
            two +
            "\" }]\n"
            "[[package]]\nname = \"numpy\"\nversion = \"2.1.0\"\n"
            "source = { registry = \"https://index.example/simple\" }\n"
            "sdist = { url = \"s\", hash = \"sha256:" +
            two +
            "\" }\n"
            "dependencies = [{ name = \"torch\" }]\n"
            "[[package]]\nname = \"colorama\"\nversion = \"0.4\"\n"
            "source = { registry = \"https://index.example/simple\" }\n"
            "[[package]]\nname = \"pytest\"\nversion = \"8\"\n"
            "source = { registry = \"https://index.example/simple\" }\n"
            "dependencies = [{ name = \"colorama\", marker = \"python_version < '3.12'\" }]\n"
            "[[package]]\nname = \"fast\"\nversion = \"1\"\n"
            "source = { registry = \"https://index.example/simple\" }\n"
            "[package.optional-dependencies]\nspeed = [{ name = \"jit\" }]\n"
            "[[package]]\nname = \"jit\"\nversion = \"3\"\n"
            "source = { registry = \"https://index.example/simple\" }\n"
            "[[package]]\nname = \"idle\"\nversion = \"9\"\n"
            "source = { registry = \"https://index.example/simple\" }\n");
    const auto found = read("uv.lock");
    EXPECT_THAT(problems_, IsEmpty());
    EXPECT_THAT(texts(found.conda), ElementsAre("python>=3.11"));
    EXPECT_THAT(
        texts(found.pip),
        ElementsAre("--extra-index-url https://wheels.example/cu124",
                    "torch==2.5.0+cu124 --hash=sha256:" + one + " --hash=sha256:" + two,
                    "numpy==2.1.0 --hash=sha256:" + two,
                    "colorama==0.4 ; ((python_version < '3.12')) or ((sys_platform == 'win32'))",
                    "pytest==8",
                    "fast==1",
                    "jit==3"));
}

TEST_F(PackageFileTest, WhatComesByGitHasNoChecksums)
{
    write("uv.lock",
          "[[package]]\nname = \"app\"\nsource = { editable = \".\" }\n"
          "dependencies = [{ name = \"a\" }, { name = \"b\" }]\n"
          "[[package]]\nname = \"a\"\nversion = \"1\"\n"
          "source = { git = \"https://git.example/a.git?rev=main#0123abc\" }\n"
          "[[package]]\nname = \"b\"\nversion = \"2\"\nsource = { registry = \"r\" }\n"
          "wheels = [{ hash = \"sha256:" +
              std::string(64, '1') + "\" }]\n");
    EXPECT_THAT(texts(read("uv.lock").pip),
                ElementsAre("a @ git+https://git.example/a.git@0123abc", "b==2"));
}

TEST_F(PackageFileTest, ManyConditionsEnd)
{
    // Each of 30 packages needs all others, each under a condition of its own.
    std::string text = "[[package]]\nname = \"p\"\nsource = { virtual = \".\" }\n"
                       "dependencies = [{ name = \"p0\" }]\n";
    for (int i = 0; i < 30; ++i) {
        text += "[[package]]\nname = \"p" + std::to_string(i) +
                "\"\nversion = \"1\"\nsource = { registry = \"r\" }\ndependencies = [";
        for (int j = 0; j < 30; ++j)
            text += "{ name = \"p" + std::to_string(j) + "\", marker = \"m" +
                    std::to_string(i * 30 + j) + "\" },";
        text += "]\n";
    }
    write("uv.lock", text);
    EXPECT_EQ(read("uv.lock").pip.size(), 30U);
}

}  // namespace
}  // namespace ponk::config
