// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/target_facts.hpp"

#include "base/text.hpp"
#include "cli/runs/submission.hpp"

#include <algorithm>
#include <map>

namespace ponk::cli {
namespace {

// The first look at a host copies our helper there.
constexpr std::chrono::seconds look_limit{180};

std::string engine_text(const Json& facts)
{
    const Json& engine = facts["engine"];
    if (!engine.is_object())
        return facts.text("closed_engine").empty() ? "no container engine"
                                                   : "a container engine that cannot be used ('" +
                                                         facts.text("closed_engine") + "')";
    std::string text = engine.text("name", "engine") + " " + engine.text("version");
    if (!engine.text("api").empty()) text += " (API " + engine.text("api") + ")";
    if (engine.boolean("rootless")) text += ", rootless";
    if (engine["live_restore"].is_bool() && !engine.boolean("live_restore"))
        text += ", no live-restore";
    return text;
}

std::string cards_text(const Json& gpus)
{
    if (!gpus.is_array() || gpus.as_array().empty()) return "no GPU";
    std::map<std::string, int> count;
    for (const Json& gpu : gpus.as_array())
        ++count[gpu.text("name", "GPU")];
    std::vector<std::string> parts;
    for (const auto& [name, number] : count)
        parts.push_back(number > 1 ? fmt::format("{} x {}", number, name) : name);
    return join(parts, ", ");
}

// "slurm-wlm 22.05.8: partitions main (default, 2 nodes, 4 CPUs, gpu:a100:2, 1:00:00), low (…)"
std::string cluster_text(const Json& slurm)
{
    std::vector<std::string> partitions;
    if (slurm["partitions"].is_array()) {
        for (const Json& each : slurm["partitions"].as_array()) {
            std::vector<std::string> words;
            if (each.boolean("default")) words.emplace_back("default");
            words.push_back(each.text("nodes") + (each.text("nodes") == "1" ? " node" : " nodes"));
            words.push_back(each.text("cpus") + " CPUs");
            if (!each.text("gres").empty()) words.push_back(each.text("gres"));
            words.push_back("at most " + each.text("time_limit"));
            partitions.push_back(fmt::format("{} ({})", each.text("name"), join(words, ", ")));
        }
    }
    auto text = slurm.text("version", "Slurm");
    if (!partitions.empty()) text += ": " + join(partitions, ", ");
    if (slurm["test_job_ms"].is_integer())
        text += fmt::format("; a test job's file was seen after {}",
                            duration_text(slurm.integer("test_job_ms")));
    return text;
}

}  // namespace

std::string gpus_line(const Json& answer)
{
    auto text = cards_text(answer["devices"]);
    for (const auto& [key, word] :
         {std::pair("driver_version", "driver"), {"cuda_version", "CUDA"}})
        if (!answer.text(key).empty()) text += fmt::format(", {} {}", word, answer.text(key));
    return printable(text);
}

Result<std::optional<Json>>
ask_facts(Context& context, const os::Path& project, const std::string& target)
{
    Daemon* server = TRY(context.daemon());
    auto answer = server->send("POST",
                               "/targets/check",
                               JsonObject{{"project", project.string()},
                                          {"target", target},
                                          {"environment", own_environment()}},
                               Daemon::Repeat::when_broken,
                               look_limit);
    if (answer) return std::optional<Json>(std::move(*answer));
    if (answer.error().kind() == ErrorKind::not_found) return std::nullopt;
    return tl::unexpected(answer.error());
}

std::string facts_line(const Json& answer)
{
    const Json& facts = answer["facts"];
    if (!facts.is_object()) return "no details available";
    std::vector<std::string> machine;
    for (const char* key : {"system", "architecture"}) {
        if (!facts.text(key).empty()) machine.push_back(facts.text(key));
    }
    if (facts["free_disk"].is_number())
        machine.push_back(
            byte_size_text(static_cast<std::uint64_t>(facts["free_disk"].as_double())) + " free");
    std::vector<std::string> parts{join(machine, ", ")};
    if (answer.text("type").find("docker") != std::string::npos || facts["engine"].is_object())
        parts.push_back(engine_text(facts));
    parts.push_back(cards_text(facts["gpus"]));
    if (!facts.text("python").empty()) parts.push_back(facts.text("python"));
    if (facts["slurm"].is_object()) parts.push_back(cluster_text(facts["slurm"]));
    return printable(join(parts, "; "));
}

std::vector<TargetProblem> problems_of(const Json& answer)
{
    std::vector<TargetProblem> problems;
    if (!answer["problems"].is_array()) return problems;
    for (const Json& problem : answer["problems"].as_array()) {
        problems.push_back(
            {problem.text("severity", "warning"), problem.text("what"), problem.text("hint")});
    }
    return problems;
}

bool is_ready(const Json& answer)
{
    return answer.boolean("reachable") &&
           std::ranges::none_of(problems_of(answer),
                                [](const auto& problem) { return problem.severity == "error"; });
}

bool has_gpu_for_containers(const Json& answer)
{
    const Json& facts = answer["facts"];
    return facts["gpus"].is_array() && !facts["gpus"].as_array().empty() &&
           facts["engine"].is_object();
}

void note_facts(const Context& context, const std::string& target, const Json& answer)
{
    if (answer.boolean("reachable")) context.note("{}: {}", target, facts_line(answer));
    for (const auto& [severity, what, hint] : problems_of(answer)) {
        // "error:" is the mark of a command that failed, and this one may not have.
        context.note("{}: {}", severity == "error" ? "problem" : severity, printable(what));
        if (!hint.empty()) context.note("hint: {}", printable(hint));
    }
}

}  // namespace ponk::cli
