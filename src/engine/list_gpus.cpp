// SPDX-License-Identifier: Apache-2.0
#include "engine/list_gpus.hpp"

#include "config/project.hpp"
#include "config/resolve.hpp"
#include "engine/check_target.hpp"

namespace ponk::engine {

Result<Json> list_gpus(const Context& context,
                       const Path& project,
                       const std::string& name,
                       const std::vector<std::string>& environment,
                       const std::stop_token& stop)
{
    const auto target = TRY(config::load_target(TRY(config::open_project(project)), name));
    const std::string type = config::to_string(*target.type);
    auto* const executor = TRY(context.executor(type));
    const auto found = executor->gpus(TRY(facts_wish(target, environment)), stop);
    if (!found && found.error().kind() == ErrorKind::cancelled)
        return tl::unexpected(found.error());
    JsonObject answer{{"target", target.name},
                      {"type", type},
                      {"address", *target.address},
                      {"reachable", found.has_value()}};
    if (found) {
        for (const auto& [key, value] : found->as_object())
            answer.set(key, value);
        return answer;
    }
    answer.set("devices", JsonArray());
    answer.set("problem",
               JsonObject{{"kind", to_string(found.error().kind())},
                          {"message", found.error().message()},
                          {"hint", found.error().hint()}});
    return answer;
}

}  // namespace ponk::engine
