// SPDX-License-Identifier: Apache-2.0
#include "config/files/slurm_keys.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace ponk::config {

namespace {

// A run is one process with one log, found by its name, started once.
constexpr std::array<std::string_view, 37> ours{"array",
                                                "cluster",
                                                "batch",
                                                "chdir",
                                                "cluster-constraint",
                                                "clusters",
                                                "comment",
                                                "error",
                                                "export",
                                                "export-file",
                                                "get-user-env",
                                                "gid",
                                                "help",
                                                "ignore-pbs",
                                                "input",
                                                "job-name",
                                                "kill-on-invalid-dep",
                                                "nodes",
                                                "no-requeue",
                                                "ntasks",
                                                "ntasks-per-core",
                                                "ntasks-per-gpu",
                                                "ntasks-per-node",
                                                "ntasks-per-socket",
                                                "open-mode",
                                                "output",
                                                "parsable",
                                                "quiet",
                                                "requeue",
                                                "signal",
                                                "test-only",
                                                "uid",
                                                "usage",
                                                "verbose",
                                                "version",
                                                "wait",
                                                "wrap"};

// Those that have a key of their own.
constexpr std::array<std::string_view, 4> keys_of_their_own{"partition", "account", "qos", "gres"};

bool is_option_name(std::string_view text)
{
    static constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return text.size() > 1 && text[0] != '-' &&
           text.find_first_not_of(allowed) == std::string_view::npos;
}

// sbatch takes the beginning of an option's name for the whole.
bool begins_one_of(std::span<const std::string_view> names, std::string_view name)
{
    return std::ranges::any_of(names,
                               [&](std::string_view each) { return each.starts_with(name); });
}

void read_option(const Member& member, SlurmKeys& keys, Report& report)
{
    const auto& name = member.key;
    const auto place = member.place;
    if (!name.empty() && begins_one_of(keys_of_their_own, name)) {
        report.error(place,
                     "wrong-value",
                     fmt::format("'sbatch' cannot have '{}'", name),
                     fmt::format("Write '{}' as a key of the target, outside of 'sbatch'.", name));
        return;
    }
    if (name.starts_with("gpus") || name.starts_with("tres-per-")) {
        report.error(place,
                     "wrong-value",
                     fmt::format("'sbatch' cannot have '{}'", name),
                     "Write the GPUs as 'gres: gpu:2', a key of the target outside of 'sbatch'.");
        return;
    }
    if (!name.empty() && is_set_by_ponk(name)) {
        report.error(place,
                     "wrong-value",
                     fmt::format("'sbatch' cannot have '{}': ponk sets it itself, or a run is "
                                 "another thing",
                                 name),
                     "Remove the line.");
        return;
    }
    if (!is_option_name(name)) {
        report.error(place,
                     "wrong-value",
                     fmt::format("'{}' is not the long name of an sbatch option", printable(name)),
                     "Write it without dashes, such as 'constraint: a100' or 'exclusive: true'.");
        return;
    }
    if (!member.value.is_scalar() || boolean_of(member.value) == false) return;
    auto word = "--" + name;
    if (!member.value.is_null() && boolean_of(member.value) != true && !member.value.text.empty())
        word += "=" + member.value.text;
    keys.options.push_back({std::move(word), place});
}

}  // namespace

bool is_set_by_ponk(std::string_view name)
{
    return begins_one_of(ours, name);
}

void read_slurm_keys(const SectionReader& reader, SlurmKeys& keys, Report& report)
{
    reader.read("partition", keys.partition);
    reader.read("account", keys.account);
    reader.read("qos", keys.qos);
    reader.read("gres", keys.gres);
    const Node* options = reader.find("sbatch");
    if (options == nullptr || !options->is_map()) return;
    for (const auto& member : options->members)
        read_option(member, keys, report);
}

}  // namespace ponk::config
