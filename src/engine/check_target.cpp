// SPDX-License-Identifier: Apache-2.0
#include "engine/check_target.hpp"

#include "config/project.hpp"
#include "config/resolve.hpp"
#include "engine/plan.hpp"
#include "os/variables.hpp"
#include "target/remote/box_advice.hpp"

namespace ponk::engine {

namespace {

// Remarks of another machine, with the command that mends what they tell.
Json advised(const Json& problems, const target::BoxAddress& box, const std::string& name)
{
    if (!problems.is_array()) return problems;
    JsonArray told;
    for (Json problem : problems.as_array()) {
        if (!problem.is_object()) continue;
        const Error error(ErrorKind::unavailable, problem.text("what"), problem.text("hint"));
        problem.as_object().set("hint", target::remote::advise_for_box(error, box, name).hint());
        told.push_back(std::move(problem));
    }
    return told;
}

}  // namespace

Result<target::FactsWish> facts_wish(const config::ComputeTarget& target,
                                     const std::vector<std::string>& environment)
{
    target::FactsWish wish{.box = {}, .ambient = environment};
    if (const auto box = TRY(box_plan(target, environment))) {
        wish.box = {.address = box->address,
                    .port = box->port,
                    .user = box->user,
                    .scratch = box->scratch,
                    .key = box->private_key,
                    .agent = os::variable(environment, "SSH_AUTH_SOCK")};
    }
    return wish;
}

Result<Json> check_target(const Context& context,
                          const Path& project,
                          const std::string& name,
                          const std::vector<std::string>& environment,
                          const std::stop_token& stop)
{
    const auto target = TRY(config::load_target(TRY(config::open_project(project)), name));
    const std::string type = config::to_string(*target.type);
    auto* const executor = TRY(context.executor(type));
    const auto wish = TRY(facts_wish(target, environment));
    JsonObject answer{{"target", target.name}, {"type", type}, {"address", *target.address}};
    auto found = executor->facts(wish, stop);
    if (!found && found.error().kind() == ErrorKind::cancelled)
        return tl::unexpected(found.error());
    answer.set("reachable", found.has_value());
    answer.set("facts", found ? (*found)["facts"] : Json());
    if (found) {
        answer.set("problems", advised((*found)["problems"], wish.box, target.name));
    } else {
        answer.set("problems",
                   JsonArray{JsonObject{{"severity", "error"},
                                        {"what", found.error().message()},
                                        {"hint", found.error().hint()}}});
    }
    return answer;
}

}  // namespace ponk::engine
