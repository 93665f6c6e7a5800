// SPDX-License-Identifier: Apache-2.0
#include "target/executor_contract.hpp"
#include "target/fake/fake_executor.hpp"

namespace ponk::target {
namespace {

using namespace std::chrono_literals;

ExecutorUnderTest make_fake(const Path& /*root*/)
{
    fake::Options options;
    options.scripts["hello"] = [](fake::Process& process) {
        process.write("hello\n");
        for (const auto& word : process.spec().arguments)
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

}  // namespace
}  // namespace ponk::target
