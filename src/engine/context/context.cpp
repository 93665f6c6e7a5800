// SPDX-License-Identifier: Apache-2.0
#include "engine/context/context.hpp"

namespace ponk::engine {

Error unsupported_target(const std::string& type)
{
    return {ErrorKind::unavailable,
            "targets of type '" + type + "' are not supported by this version",
            "Use the target 'local' instead."};
}

Result<executor::Executor*> Context::executor(const std::string& name) const
{
    const auto found = executors.find(name);
    if (found == executors.end()) return tl::unexpected(unsupported_target(name));
    return found->second.get();
}

Result<executor::Executor*> Context::executor(const model::RunSpec& spec) const
{
    return executor(model::executor_name(spec.location, model::target_type(spec)));
}

void Context::tell(const RunId& id, const std::string& kind, const std::string& text) const
{
    static_cast<void>(history.append_event(id, kind, text));
    notifier.ring(id);
}

}  // namespace ponk::engine
