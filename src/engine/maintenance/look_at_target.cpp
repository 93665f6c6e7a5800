// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/look_at_target.hpp"

#include "config/project/project.hpp"
#include "config/project/resolve.hpp"
#include "engine/plan/resolve_run.hpp"
#include "executor/remote/link/host_advice.hpp"
#include "os/helper_environment.hpp"
#include "os/variables.hpp"

namespace ponk::engine {

namespace {

struct Looked {
    std::string name;
    executor::FactsRequest how;
    Result<Json> found;
    JsonObject answer;  // which target it is, and whether it could be reached
};

using Question = Result<Json> (executor::Machine::*)(const executor::FactsRequest&,
                                                     std::stop_token);

Result<executor::FactsRequest> how_to_reach(const config::ComputeTarget& target,
                                            const std::vector<std::string>& environment)
{
    executor::FactsRequest how{.host = {}, .submitter_environment = environment};
    const auto location = TRY(location_of(target, environment));
    if (location.kind == model::Location::Kind::host)
        how.host = {location.host, os::variable(environment, "SSH_AUTH_SOCK")};
    how.slurm = location.slurm;
    return how;
}

Result<Looked> look(const Context& context,
                    const TargetRequest& request,
                    Question question,
                    const std::stop_token& stop)
{
    const auto target =
        TRY(config::load_target(TRY(config::open_project(request.project)), request.name));
    const std::string type = config::to_string(*target.type);
    const auto location = TRY(location_of(target, request.environment));
    auto* const machine = TRY(context.executor(model::executor_name(location, type)))->machine();
    if (machine == nullptr)
        return fail(ErrorKind::unavailable, "targets of type '{}' cannot be checked", type);
    // To look at a machine starts programs; none is the project's, also where its .venv is
    // activated.
    auto how =
        TRY(how_to_reach(target, os::helper_environment(request.environment, request.project)));
    auto found = (machine->*question)(how, stop);
    if (!found && found.error().kind() == ErrorKind::cancelled)
        return tl::unexpected(found.error());
    if (!found)
        found =
            tl::unexpected(executor::remote::advise_for_host(found.error(), how.host, target.name));
    JsonObject answer{{"target", target.name},
                      {"type", type},
                      {"address", *target.address},
                      {"reachable", found.has_value()}};
    return Looked{target.name, std::move(how), std::move(found), std::move(answer)};
}

// Remarks of another machine, with the command that mends what they tell.
Json advised(const Json& problems, const executor::HostAddress& host, const std::string& name)
{
    if (!problems.is_array()) return problems;
    JsonArray told;
    for (Json problem : problems.as_array()) {
        if (!problem.is_object()) continue;
        const Error error(ErrorKind::unavailable, problem.text("what"), problem.text("hint"));
        problem.as_object().set("hint",
                                executor::remote::advise_for_host(error, host, name).hint());
        told.push_back(std::move(problem));
    }
    return told;
}

}  // namespace

Result<Json>
check_target(const Context& context, const TargetRequest& request, const std::stop_token& stop)
{
    auto [name, how, found, answer] = TRY(look(context, request, &executor::Machine::facts, stop));
    answer.set("facts", found ? (*found)["facts"] : Json());
    if (found) {
        answer.set("problems", advised((*found)["problems"], how.host, name));
    } else {
        answer.set("problems",
                   JsonArray{JsonObject{{"severity", "error"},
                                        {"what", found.error().message()},
                                        {"hint", found.error().hint()}}});
    }
    return answer;
}

Result<Json>
list_gpus(const Context& context, const TargetRequest& request, const std::stop_token& stop)
{
    auto [name, how, found, answer] = TRY(look(context, request, &executor::Machine::gpus, stop));
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
