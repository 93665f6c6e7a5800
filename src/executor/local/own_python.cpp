// SPDX-License-Identifier: Apache-2.0
#include "executor/local/own_python.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "config/packages/uv_lock.hpp"
#include "executor/environments/environment.hpp"
#include "executor/environments/managed_environment.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/supervisor/command_line.hpp"
#include "os/process.hpp"

#include <algorithm>
#include <map>

namespace ponk::executor::local {

using namespace std::chrono_literals;

Result<Examination> examine_own_python(const Job& job, std::stop_token stop)
{
    Examination out;
    const auto found =
        find_interpreter(job, job.context.directory.work(), job.context.submitter_environment);
    if (!found) {
        out.reason = found.error().message();
        out.remarks.push_back({"error", found.error().message(), found.error().hint()});
        return out;
    }
    out.interpreter = found->string();
    const auto asked = TRY(os::run({.argv = {out.interpreter,
                                             "-E",
                                             "-s",
                                             "-c",
                                             "import platform;print(platform.python_version())"},
                                    .env = job.context.submitter_environment,
                                    .directory = "/"},
                                   after(60s),
                                   stop));
    out.version = trim(asked.out);
    out.ready = asked.exit.status() == 0 && !out.version.empty();
    if (out.ready) {
        out.reason = "you install the packages of this target yourself";
        return out;
    }
    out.reason = fmt::format("'{}' does not start", printable(out.interpreter));
    out.remarks.push_back(
        {"error",
         fmt::format("{}: {}", out.reason, printable(trim(asked.err))),
         "Set 'pythonLocation' of the target to the path of a working Python program."});
    return out;
}

namespace {

constexpr const char* lock_name = "uv.lock";
constexpr std::size_t most_named = 4;
constexpr std::uint64_t longest_lock = std::uint64_t{16} << 20;

struct LockedVersions {
    std::vector<std::string> versions;
    bool everywhere = false;  // without a condition
};

// A lock may have several versions of a package, each under a condition.
std::map<std::string, LockedVersions> locked_versions(const config::CondaEnvironment& lock)
{
    std::map<std::string, LockedVersions> all;
    for (const auto& package : lock.pip) {
        if (!package.version.starts_with("==")) continue;
        auto& one = all[package.name];
        one.versions.push_back(package.version.substr(2));
        one.everywhere |= package.text.find(';') == std::string::npos;
    }
    return all;
}

// What a lock pins and the environment does not have so; empty: nothing.
std::string difference(const std::string& lock_text, const std::string& installed_text)
{
    config::Report ignored(lock_name);
    const auto lock = config::read_uv_lock(lock_text, ignored);
    const auto installed = environment::parse_lock(installed_text);
    if (!lock || !installed) return "";
    std::map<std::string, std::string> versions;
    for (const auto& package : installed->packages)
        versions.emplace(package.name, package.version);
    std::vector<std::string> changes;
    for (const auto& [name, locked] : locked_versions(*lock)) {
        const auto found = versions.find(name);
        const auto wanted = join(locked.versions, " or ");
        if (found == versions.end()) {
            if (locked.everywhere) changes.push_back(fmt::format("{} {} is missing", name, wanted));
        } else if (std::ranges::find(locked.versions, found->second) == locked.versions.end()) {
            changes.push_back(fmt::format("{} {} (locked: {})", name, found->second, wanted));
        }
    }
    if (changes.size() > most_named) {
        const auto more = changes.size() - most_named;
        changes.resize(most_named);
        changes.push_back(fmt::format("{} more", more));
    }
    return join(changes, ", ");
}

}  // namespace

std::string LockComparisons::of(const Job& job, const EnvironmentUsed& used)
{
    const auto& prefix = job.spec.environment.prefix;
    if (prefix.empty()) return "";
    const auto text = os::read_file_if_any(job.context.directory.work() / lock_name, longest_lock);
    if (!text || !*text) return "";
    const auto state = used.lock_digest + sha256(**text).text();
    {
        const auto known = known_.lock();
        const auto found = known->find(prefix);
        if (found != known->end() && found->second.state == state) return found->second.difference;
    }
    auto changes = difference(**text, used.lock);
    known_.lock()->insert_or_assign(prefix, Known{state, changes});
    return changes;
}

std::optional<EnvironmentUsed> describe_own_python(const Path& home,
                                                   const Job& job,
                                                   LockComparisons& comparisons,
                                                   Notices& notices,
                                                   std::stop_token stop)
{
    Environment environment(
        ground_of_own(job.spec.environment.prefix, job.context.submitter_environment));
    for (const auto& [name, value] : job.spec.program.variables)
        environment.set(name, value);
    const auto tree = job.context.directory.work();
    const auto found = find_interpreter(job, tree, environment.words());
    if (!found) return std::nullopt;
    EnvironmentUsed used;
    used.interpreter = found->native();
    used.choice = job.spec.environment.choice;
    const auto installed =
        environment::installed_packages(home, *found, tree, environment.words(), std::move(stop));
    if (installed) {
        if (!installed->program.empty()) used.interpreter = installed->program;
        describe_packages(*installed, used);
        const auto changes = comparisons.of(job, used);
        if (!changes.empty())
            notices.push_back(fmt::format("'{}' differs from {}: {}; 'uv sync' updates it",
                                          Path(job.spec.environment.prefix).filename().native(),
                                          lock_name,
                                          changes));
    } else {
        notices.push_back(fmt::format("the packages of {} cannot be recorded: {}",
                                      os::in_quotes(*found),
                                      installed.error().message()));
    }
    return used;
}

}  // namespace ponk::executor::local
