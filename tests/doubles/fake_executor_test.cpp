// SPDX-License-Identifier: Apache-2.0
#include "doubles/executor_contract.hpp"
#include "doubles/fake_executor.hpp"
#include "os/test_folder.hpp"

#include <filesystem>

namespace ponk::executor {
namespace {

using namespace std::chrono_literals;

ExecutorUnderTest make_fake(const Path& /*root*/)
{
    fake::Options options;
    options.scripts["hello"] = [](fake::Process& process) {
        process.write("hello\n");
        for (const auto& word : process.job().spec.program.arguments)
            process.write(word + "\n");
        return 0;
    };
    options.scripts["three"] = [](fake::Process& process) {
        process.write("no newline at the end");
        return 3;
    };
    options.scripts["wait"] = [](fake::Process& process) {
        process.write("ready\n");
        while (!process.asked_to_end(1s))
            continue;
        return 0;
    };
    options.scripts["output"] = [](fake::Process& process) {
        process.output("model.txt", "weights");
        return 0;
    };
    return {fake::make_executor(std::move(options)), {}, ""};
}

INSTANTIATE_TEST_SUITE_P(Fake,
                         ExecutorContract,
                         testing::Values(ContractTarget{"fake", make_fake}),
                         testing::PrintToStringParamName());

TEST(FakeExecutor, HandsAnAnswerOverAndFollowsNoLink)
{
    const os::TestFolder place;
    const RunDirectory run(place.path() / "run");
    ASSERT_TRUE(os::make_directories(run.task()));
    const auto executor = fake::make_executor({});
    const std::string name = "0123456789abcdef";

    ASSERT_TRUE(executor->deliver("job", run, name, "{}\nbody"));
    EXPECT_EQ(os::read_file(run.task() / "answers" / name).value(), "{}\nbody");
    for (const auto* other : {"", "../../x", "0123456789abcdeF", "0123456789abcdef0"})
        EXPECT_FALSE(executor->deliver("job", run, other, "x")) << other;

    ASSERT_TRUE(os::remove_tree(run.task() / "answers"));
    ASSERT_TRUE(os::make_directories(place.path() / "home"));
    std::filesystem::create_symlink(place.path() / "home", run.task() / "answers");
    EXPECT_FALSE(executor->deliver("job", run, name, "x"));
    EXPECT_TRUE(std::filesystem::is_empty(place.path() / "home"));
}

}  // namespace
}  // namespace ponk::executor
