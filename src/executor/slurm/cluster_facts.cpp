// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/cluster_facts.hpp"

#include "base/id.hpp"
#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/slurm/job_script.hpp"
#include "os/directory.hpp"
#include "os/wait.hpp"

#include <algorithm>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// A cluster without a free node is a working one.
constexpr auto queue_patience = 20s;
// For a file of a job that has ended.
constexpr auto sight_patience = 15s;

class ClusterLook {
public:
    ClusterLook(const Result<Installation>& where,
                const model::SlurmSpec& request,
                const Path& home,
                std::stop_token stop)
        : where_(where), slurm_(where.value_or(Installation())), request_(request), home_(home),
          stop_(std::move(stop))
    {
    }

    void look()
    {
        if (!where_) return problem("error", where_.error().message(), where_.error().hint());
        if (const auto version = slurm_.ask({"sbatch", "--version"}, stop_))
            facts_.set("version", trim(*version));
        const auto partitions =
            slurm_.ask({"sinfo", "-a", "-h", "-o", "%P|%a|%l|%D|%c|%m|%G"}, stop_);
        if (!partitions)
            return problem("error",
                           partitions.error().message(),
                           "Ask whoever runs the cluster; 'sinfo' shows the same.");
        auto found = parse_partitions(*partitions);
        const auto missing = missing_partition(found);
        facts_.set("partitions", std::move(found));
        if (!missing.empty())
            return problem("error",
                           fmt::format("there is no partition '{}'", printable(missing)),
                           "'sinfo' lists the partitions: write one as 'partition: NAME' in the "
                           "target's .compute file.");
        probe_nodes();
    }

    void add_to(Json& answer)
    {
        auto facts = answer["facts"];
        facts.as_object().set("slurm", std::move(facts_));
        auto problems = answer["problems"];
        for (auto& each : problems_)
            problems.as_array().push_back(std::move(each));
        answer.as_object().set("facts", std::move(facts));
        answer.as_object().set("problems", std::move(problems));
    }

private:
    // Several may be named: a job goes to the first that has room.
    [[nodiscard]] std::string missing_partition(const JsonArray& found) const
    {
        for (const auto& name : split(request_.partition, ',')) {
            const bool is_there = std::ranges::any_of(
                found, [&](const Json& each) { return each.text("name") == name; });
            if (!name.empty() && !is_there) return name;
        }
        return {};
    }

    void problem(const char* severity, const std::string& what, const std::string& hint)
    {
        problems_.emplace_back(JsonObject{{"severity", severity}, {"what", what}, {"hint", hint}});
    }

    // A job reads a file that was written here, and writes one.
    void probe_nodes()
    {
        const auto folder = home_ / "slurm" / ("check-" + RunId::make().text());
        const auto done = probe_in(folder);
        static_cast<void>(os::remove_tree(folder));
        if (!done)
            problem("error",
                    "a test job was not accepted: " + done.error().message(),
                    "Correct 'partition', 'account', 'qos', 'gres' or 'sbatch' in the target's "
                    ".compute file.");
    }

    Result<> probe_in(const Path& folder)
    {
        TRY(os::make_directories(folder));
        const auto script = folder / "job.sh";
        TRY(os::replace_file(folder / "here", "here\n"));
        TRY(os::replace_file(script,
                             fmt::format("#!/bin/sh\ncd {} && cat here > there.new && mv there.new "
                                         "there\n",
                                         shell_word(folder.native()))));
        const auto name = folder.filename().native();
        std::vector<std::string> words{"--job-name=" + name,
                                       "--chdir=/",
                                       "--input=/dev/null",
                                       "--output=/dev/null",
                                       "--time=1",
                                       "--no-requeue",
                                       "--export=ALL"};
        for (auto& word : words_of(request_))
            words.push_back(std::move(word));
        const auto begin = boot_milliseconds();
        const auto number = TRY(slurm_.submit(words, script, stop_));
        const auto seen = wait_for(folder, number);
        if (!seen) static_cast<void>(slurm_.cancel(name, {}));
        if (seen) facts_.set("test_job_ms", boot_milliseconds() - begin);
        return {};
    }

    bool wait_for(const Path& folder, const std::string& number)
    {
        std::optional<Deadline> over;
        auto next_question = after(3s);
        for (const auto deadline = after(queue_patience); os::sleep_for(100ms, stop_);) {
            // Shared file systems look for new files only when the folder is listed.
            const auto names = os::list_directory(folder);
            if (names && executor::is_there(folder / "there")) return true;
            const auto now = Deadline::clock::now();
            if (over && now > *over + sight_patience) {
                problem("error",
                        fmt::format("the cluster's nodes do not see {}: a job that wrote there has "
                                    "ended, and its file is not visible here",
                                    os::in_quotes(home_)),
                        "Write 'scratch: FOLDER' in the target's .compute file, with a folder on a "
                        "file system that login and compute nodes share. On the login node itself, "
                        "set PONK_HOME to such a folder.");
                return false;
            }
            if (!over && now > deadline) {
                problem("warning",
                        fmt::format("no node was free for a test job within {} s: it is not known "
                                    "whether the nodes see {}",
                                    std::chrono::seconds(queue_patience).count(),
                                    os::in_quotes(home_)),
                        "Check again when the queue is shorter.");
                return false;
            }
            if (over || now < next_question) continue;
            next_question = after(2s);
            const auto jobs = slurm_.list(stop_);
            if (!jobs) continue;
            const auto job = jobs->find(number);
            if (job != jobs->end() && job->second.is_over() && job->second.state != "COMPLETED" &&
                job->second.state != "FAILED") {
                problem("error",
                        "a test job did not get to its end: " + describe(number, job->second),
                        "'scontrol show job' tells more.");
                return false;
            }
            if (job == jobs->end() || job->second.is_over()) over = now;
        }
        return false;
    }

    const Result<Installation>& where_;
    SlurmClient slurm_;
    const model::SlurmSpec& request_;
    const Path& home_;
    std::stop_token stop_;
    JsonObject facts_;
    JsonArray problems_;
};

}  // namespace

JsonArray parse_partitions(std::string_view text)
{
    JsonArray partitions;
    for (const auto& line : split(trim(text), '\n')) {
        const auto words = split(line, '|');
        if (words.size() != 7) continue;
        auto name = words[0];
        const bool is_default = name.ends_with('*');
        if (is_default) name.pop_back();
        const auto gres = words[6] == "(null)" ? std::string() : words[6];
        partitions.emplace_back(JsonObject{{"name", name},
                                           {"default", is_default},
                                           {"available", words[1]},
                                           {"time_limit", words[2]},
                                           {"nodes", words[3]},
                                           {"cpus", words[4]},
                                           {"memory_mib", words[5]},
                                           {"gres", gres}});
    }
    return partitions;
}

void add_cluster_facts(const Result<Installation>& where,
                       const model::SlurmSpec& request,
                       const Path& home,
                       Json& answer,
                       const std::stop_token& stop)
{
    ClusterLook look(where, request, home, stop);
    look.look();
    look.add_to(answer);
}

}  // namespace ponk::executor::slurm
