// SPDX-License-Identifier: Apache-2.0
#include "target/executor.hpp"

#include "base/text.hpp"

namespace ponk::target {

namespace {

tl::unexpected<Error> no_environment(const std::string& id)
{
    return tl::unexpected(Error(ErrorKind::not_found,
                                fmt::format("there is no environment '{}'", printable(id)),
                                "`ponk environment list` shows those that are."));
}

}  // namespace

Result<std::string> Executor::environment_lock(const std::string& /*machine*/,
                                               const std::string& id,
                                               std::stop_token /*stop*/)
{
    return no_environment(id);
}

Result<EnvironmentRemoval> Executor::remove_environment(const std::string& /*machine*/,
                                                        const std::string& id,
                                                        std::stop_token /*stop*/)
{
    return no_environment(id);
}

}  // namespace ponk::target
