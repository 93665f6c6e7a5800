// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "environment/cache/cache.hpp"
#include "environment/installed/installed_packages.hpp"
#include "environment/prepare.hpp"
#include "executor/executor.hpp"

#include <map>
#include <optional>

// The environments that are kept on the machine where an executor runs: what targets with and
// without containers have in common.
namespace ponk::executor {

// What the run's file of packages asks for, read from the run's own copy of the project; nullopt
// when it names none. The caller adds image or interpreter.
Result<std::optional<environment::Request>> environment_request(const Job& job);
// The same from any folder that has the project's files.
Result<std::optional<environment::Request>> environment_request(const RunSpec& spec,
                                                                const Path& tree);

// Finds it or builds it; refuses to build when the run says so.
Result<environment::Prepared> prepare_environment(const Path& home,
                                                  const Job& job,
                                                  const environment::Request& request,
                                                  const Progress& progress,
                                                  std::stop_token stop);
// What that would do now, and what is to be said about the file before.
Result<Examination> examine_environment(const Path& home,
                                        const Job& job,
                                        const environment::Request& request,
                                        std::stop_token stop);

// The variables that a script of this machine starts with, when it uses the environment.
std::vector<std::string> ground_of(const environment::Prepared& prepared,
                                   const std::vector<std::string>& submitter_environment);

// The same for an environment of the user's own; an empty prefix changes nothing.
std::vector<std::string> ground_of_own(const std::string& prefix,
                                       const std::vector<std::string>& submitter_environment);

EnvironmentUsed describe_use(const environment::Prepared& prepared);
// Packages that ponk did not install.
void describe_packages(const environment::Installed& installed, EnvironmentUsed& used);
// What was put in the place of what: sentences for the user.
Notices substitution_notices(const environment::Prepared& prepared, const Job& job);

// Environments that are ready for runs that were staged and not launched yet, with the leases
// that keep them. Any thread may call.
class HeldEnvironments {
public:
    void hold(const RunId& run, environment::Prepared prepared);
    // The one that was held, which is the caller's from now on.
    std::optional<environment::Prepared> take(const RunId& run);
    void drop(const std::string& run);

private:
    Synced<std::map<std::string, environment::Prepared>> held_;
};

// The cache of this machine as executors show it: those of one form.
class EnvironmentShelf {
public:
    using RemoveImage = environment::Cache::RemoveImage;
    // Whether one is in use although nobody on this machine locks it. What cannot be asked about
    // is not removed.
    using InUse =
        std::function<Result<bool>(const environment::Record& record, const std::stop_token& stop)>;

    // Containers that keep one's layers, whether they go on or ended.
    using Holders = std::function<Result<std::vector<std::string>>(
        const environment::Record& record, const std::stop_token& stop)>;

    EnvironmentShelf(Path home,
                     environment::Form form,
                     RemoveImage remove_image,
                     InUse in_use,
                     Holders holders = {});

    Result<EnvironmentList> list(const std::stop_token& stop) const;
    Result<std::string> lock_text(const std::string& id) const;
    Result<EnvironmentRemoval> remove(const std::string& id) const;
    Result<EnvironmentGarbage> collect(const EnvironmentRules& rules,
                                       const std::stop_token& stop) const;

private:
    environment::Cache cache_;
    environment::Form form_;
    RemoveImage remove_image_;
    InUse in_use_;
    Holders holders_;
};

// An executor whose environments are on the machine where it runs.
class ExecutorWithShelf : public Executor, public Environments, public Machine {
public:
    Environments* environments() override { return this; }
    Machine* machine() override { return this; }

    Result<EnvironmentList> list(std::stop_token stop) override { return shelf_.list(stop); }

    Result<std::string>
    lock(const std::string& /*machine*/, const std::string& id, std::stop_token /*stop*/) override
    {
        return shelf_.lock_text(id);
    }

    Result<EnvironmentRemoval>
    remove(const std::string& /*machine*/, const std::string& id, std::stop_token /*stop*/) override
    {
        return shelf_.remove(id);
    }

    Result<EnvironmentGarbage> collect_garbage(const EnvironmentRules& rules,
                                               std::stop_token stop) override
    {
        return shelf_.collect(rules, stop);
    }

protected:
    explicit ExecutorWithShelf(EnvironmentShelf shelf) : shelf_(std::move(shelf)) {}

private:
    EnvironmentShelf shelf_;
};

}  // namespace ponk::executor
