// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/fallback.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::gpu {
namespace {

using testing::HasSubstr;

class ScriptScan : public testing::Test {
protected:
    void put(const std::string& name, const std::string& text)
    {
        const auto path = folder_.path() / name;
        ASSERT_TRUE(os::make_directories(path.parent_path()));
        ASSERT_TRUE(os::replace_file(path, text, 0600, os::Durable::no));
    }
    std::vector<std::string> sentences(const std::string& script = "train.py")
    {
        std::vector<std::string> out;
        for (const auto& finding : scan_scripts(folder_.path(), script)) {
            EXPECT_FALSE(finding.certain);
            out.push_back(finding.sentence);
        }
        return out;
    }
    os::TestFolder folder_;
};

TEST_F(ScriptScan, AssignmentIsToldWithItsPlaceAndValue)
{
    const std::vector<std::pair<std::string, std::string>> table{
        {R"(os.environ["CUDA_VISIBLE_DEVICES"] = "-1")", "sets CUDA_VISIBLE_DEVICES to '-1'"},
        {R"(    os.environ['CUDA_VISIBLE_DEVICES']='')", "to ''"},
        {R"(os.environ.setdefault("CUDA_VISIBLE_DEVICES", "3"))", "to '3'"},
        {R"(os.putenv('CUDA_VISIBLE_DEVICES', ''))", "to ''"},
        {R"(env = {"CUDA_VISIBLE_DEVICES": "-1"})", "to '-1'"},
        {R"(os.environ["CUDA_VISIBLE_DEVICES"] = str(rank))", "to 'str(rank)'"},
        {R"(export CUDA_VISIBLE_DEVICES=)", "to ''"},
        {R"(CUDA_VISIBLE_DEVICES=-1 python train.py)", "to '-1'"},
        {R"(os.environ["HIP_VISIBLE_DEVICES"] = "-1")", "sets HIP_VISIBLE_DEVICES"},
        {R"(tf.config.set_visible_devices([], 'GPU'))", "set_visible_devices"},
        {R"(jax.config.update('jax_platform_name', 'cpu'))", "JAX"},
    };
    for (const auto& [line, expected] : table) {
        put("train.py", "import os\n" + line + "\n");
        const auto found = sentences();
        ASSERT_EQ(found.size(), 1U) << line;
        EXPECT_THAT(found[0], HasSubstr("'train.py:2' ")) << line;
        EXPECT_THAT(found[0], HasSubstr(expected)) << line;
    }
}

TEST_F(ScriptScan, ReadingOrNamingItIsNoAssignment)
{
    for (const char* line : {R"(# os.environ["CUDA_VISIBLE_DEVICES"] = "-1")",
                             R"(print(os.environ["CUDA_VISIBLE_DEVICES"]))",
                             R"(if os.environ["CUDA_VISIBLE_DEVICES"] == "-1":)",
                             R"(x = os.environ.get("CUDA_VISIBLE_DEVICES"))",
                             R"(del os.environ["CUDA_VISIBLE_DEVICES"])"}) {
        put("train.py", std::string(line) + "\n");
        EXPECT_TRUE(sentences().empty()) << line;
    }
}

TEST_F(ScriptScan, WhatTheScriptImportsFromTheProjectIsReadAndNothingElse)
{
    const std::string hiding = "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n";
    put("code/train.py", "import os, near as n\nfrom lib.setup import x\nimport torch\n");
    put("code/near.py", "from . import far\nfrom .deep import y\nimport near\n");
    put("code/deep/__init__.py", hiding);
    put("lib/setup.py", "\n" + hiding);
    put("other.py", hiding);
    put("torch.txt", hiding);

    EXPECT_THAT(sentences("code/train.py"),
                testing::UnorderedElementsAre(HasSubstr("'code/deep/__init__.py:1'"),
                                              HasSubstr("'lib/setup.py:2'")));
}

TEST_F(ScriptScan, AbsentScriptsAndBytesThatAreNoTextAreNoTrouble)
{
    put("train.py", std::string("\x00\xff\xfe CUDA_VISIBLE_DEVICES", 25));
    EXPECT_TRUE(sentences().empty());
    EXPECT_TRUE(sentences("absent.py").empty());
    EXPECT_TRUE(scan_scripts(folder_.path() / "absent", "").empty());
}

TEST_F(ScriptScan, ManyPlacesAreToldByTheFirstFew)
{
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "CUDA_VISIBLE_DEVICES=" + std::to_string(i) + "\n";
    put("train.py", text);

    EXPECT_EQ(sentences().size(), 3U);
}

TEST_F(ScriptScan, LinksLeadNowhereOutOfTheProject)
{
    const os::TestFolder elsewhere;
    const auto secret = elsewhere.path() / "secret";
    ASSERT_TRUE(
        os::replace_file(secret, "CUDA_VISIBLE_DEVICES = 'host-text'\n", 0600, os::Durable::no));
    put("train.py", "import outside, inside\n");
    std::filesystem::create_symlink(secret, folder_.path() / "outside.py");
    put("real.py", "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n");
    std::filesystem::create_symlink("real.py", folder_.path() / "inside.py");

    EXPECT_THAT(sentences(), testing::ElementsAre(HasSubstr("'inside.py:1'")));
}

}  // namespace
}  // namespace ponk::gpu
