// SPDX-License-Identifier: Apache-2.0
#include "config/files/mlproject.hpp"
#include "config/packages/python_env.hpp"
#include "config/text/reading_test_support.hpp"

namespace ponk::config {
namespace {

TEST(MlProject, ReadsEntryPoints)
{
    Report report("f");
    const auto project = read_mlproject(tree_of("name: My Project\nconda_env: conda.yaml\n"
                                                "entry_points:\n  main:\n    parameters:\n"
                                                "      data: path\n"
                                                "      alpha: {type: float, default: 0.1}\n"
                                                "      free:\n"
                                                "    command: \"python t.py {data} {alpha}\"\n"),
                                        report);
    EXPECT_EQ(remarks_of(report.take()), "");
    ASSERT_EQ(project.entry_points.size(), 1U);
    const auto& main = project.entry_points[0];
    EXPECT_EQ(*main.command, "python t.py {data} {alpha}");
    ASSERT_EQ(main.parameters.size(), 3U);
    EXPECT_EQ(main.parameters[0].type, "path");
    EXPECT_EQ(main.parameters[1].default_value, "0.1");
    EXPECT_FALSE(main.parameters[2].default_value);
}

TEST(MlProject, RemarksOnWhatIsWrong)
{
    const std::pair<const char*, const char*> cases[] = {
        {"entry_points: [main]\n", "1:15 error wrong-type"},
        {"entry_points: {main: python}\n", "1:22 error wrong-type"},
        {"entry_points: {main: {}}\n", "1:16 error missing-key"},
        {"entry_points: {main: {command: 'a {b}'}}\n", "1:32 warning unknown-parameter"},
        {"entry_points: {main: {command: a, parameters: {b: int}}}\n", "1:51 warning wrong-value"},
        {"entry_points: {main: {command: a, parameters: {b: {type: float, default: x}}}}\n",
         "1:48 warning wrong-value"},
        {"entry_points: {main: {command: a, parameter: {b: float}}}\n", "1:35 warning unknown-key"},
        {"entry_points: {main: {command: a, parameters: {b: {typ: path}}}}\n",
         "1:52 warning unknown-key"},
        {"docker_env: {volumes: [/a:/b]}\n", "1:13 error missing-key"},
        {"docker_env: {image: a, volumes: [/a:/b, data:/b]}\n", "1:41 error wrong-value"},
        {"docker_env: {image: a, environment: A}\n", "1:37 error wrong-type"},
        {"docker_env: {image: a, environment: [[A, b, c], [D, e], F, {G: h}]}\n",
         "1:38 error wrong-type\n1:60 error wrong-type"},
        {"conda_env: a\npython_env: b\n", "2:13 error contradiction"},
        {"conda_env: a\ndocker_env: {image: b}\n", "1:12 error contradiction"},
        {"databricks_spark_job: {python_file: a.py}\n", "1:23 notice unused-key"},
        {"entry_point: {}\n", "1:1 error unknown-key"},
    };
    for (const auto& [text, expected] : cases) {
        Report report("f");
        (void)read_mlproject(tree_of(text), report);
        EXPECT_EQ(remarks_of(report.take()), expected) << text;
    }
}

std::string shown(const char* command)
{
    EntryPoint entry;
    entry.parameters.push_back({"a", "string", std::nullopt, {}});
    std::string text;
    for (const auto& piece : command_pieces(command, entry))
        text += piece.kind == CommandPiece::Kind::text ? piece.text : "<" + piece.text + ">";
    return text;
}

TEST(MlProject, CommandsAreReadAsPythonFormatsThem)
{
    EXPECT_EQ(shown("x {a} {b-c}"), "x <a> <b-c>");
    EXPECT_EQ(shown("awk '{{print $1}}' {a}"), "awk '{print $1}' <a>");
    EXPECT_EQ(shown("awk '{print $1}' ${HOME} {1,2} {"), "awk '{print $1}' ${HOME} {1,2} {");
    EXPECT_EQ(shown("${a} }"), "$<a> }");
    EXPECT_EQ(shown("{{a}}"), "{a}");
}

TEST(MlProject, ReadsItsContainer)
{
    Report report("f");
    const auto project = read_mlproject(
        tree_of("docker_env:\n  image: img\n  volumes: [\"/data:/data:ro\"]\n"
                "  environment: [[MODE, fast], HOME]\n"
                "entry_points:\n  main: {command: 'python t.py {b}', parameters: {b: {default: "
                "true}}}\n"),
        report);

    EXPECT_EQ(remarks_of(report.take()), "");
    EXPECT_EQ(*project.docker_image, "img");
    ASSERT_EQ(project.docker_volumes.size(), 1U);
    ASSERT_EQ(project.docker_variables.size(), 2U);
    EXPECT_EQ(project.docker_variables[0].value, "fast");
    EXPECT_FALSE(project.docker_variables[1].value);
    EXPECT_EQ(project.entry_points[0].parameters[0].default_value, "True") << "as Python prints it";
    ASSERT_NE(project.find("main"), nullptr);
    EXPECT_EQ(project.find("other"), nullptr);
}

TEST(PythonEnv, NamesPackages)
{
    Report report("f");
    const auto root = tree_of("python: 3.11\nbuild_dependencies: [pip]\n"
                              "dependencies:\n  - numpy>=1.20\n  - -r requirements.txt\n");
    ASSERT_TRUE(is_python_env("files/env.yaml", root));
    const auto environment = read_python_env(root, report);

    EXPECT_EQ(remarks_of(report.take()), "");
    EXPECT_EQ(*environment.python_version, "3.11");
    ASSERT_EQ(environment.conda.size(), 1U);
    EXPECT_EQ(environment.conda[0].text, "python=3.11");
    ASSERT_EQ(environment.pip.size(), 3U);
    EXPECT_EQ(environment.pip[1].name, "numpy");
    EXPECT_EQ(environment.pip[2].text, "-r requirements.txt");
    EXPECT_FALSE(is_python_env("env.yaml", tree_of("channels: []\ndependencies: [python]\n")));
}

TEST(PythonEnv, RemarksOnWhatIsWrong)
{
    const std::pair<const char*, const char*> cases[] = {
        {"python: three\n", "1:9 error wrong-value"},
        {"python: [3]\n", "1:9 error wrong-value"},
        {"dependencies: numpy\n", "1:15 error wrong-type"},
        {"dependencies: [{pip: numpy}]\n", "1:16 error wrong-type"},
        {"python: 3.11\nother: 1\n", "2:1 warning unknown-key"},
    };
    for (const auto& [text, expected] : cases) {
        Report report("f");
        (void)read_python_env(tree_of(text), report);
        EXPECT_EQ(remarks_of(report.take()), expected) << text;
    }
}

}  // namespace
}  // namespace ponk::config
