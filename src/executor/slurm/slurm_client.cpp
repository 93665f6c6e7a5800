// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/slurm_client.hpp"

#include "base/text.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unistd.h>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// Longer than the patience of Slurm's own commands with a busy controller.
constexpr auto patience = 60s;
constexpr std::size_t longest_answer = std::size_t{64} << 20;

// Nothing of an allocation that we may be in, and no preset option of sbatch: only what makes a
// process of this user.
std::vector<std::string> environment_for(const Installation& where)
{
    const auto own = os::own_variables();
    std::vector<std::string> words;
    for (const char* name : {"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LD_LIBRARY_PATH"}) {
        if (auto value = os::variable(own, name); !value.empty())
            words.push_back(std::string(name) + "=" + value);
    }
    words.push_back("PATH=" + where.folder + ":/usr/local/bin:/usr/bin:/bin");
    words.emplace_back("LC_ALL=C");
    if (!where.configuration.empty()) words.push_back("SLURM_CONF=" + where.configuration);
    return words;
}

// "sbatch: error: invalid partition specified: x" → "invalid partition specified: x"
std::string complaint_of(std::string_view err)
{
    std::vector<std::string> said;
    for (const auto& line : split(trim(err), '\n')) {
        auto text = std::string(trim(line));
        if (const auto at = text.find(": error: "); at != std::string::npos) text.erase(0, at + 9);
        if (!text.empty() && said.size() < 5) said.push_back(printable(text));
    }
    return join(said, "; ");
}

// The controller may have heard a request all the same, or will take it later.
bool says_unreachable(std::string_view err)
{
    static constexpr std::array words{"Unable to contact slurm controller",
                                      "Socket timed out",
                                      "Communication connection failure",
                                      "Zero Bytes were transmitted",
                                      "Connection refused",
                                      "connect failure",
                                      "Resource temporarily unavailable",
                                      "Unexpected message received",
                                      "standby mode",
                                      "uthentication",
                                      "munge",
                                      "Munge",
                                      // As many jobs as the site allows are in the queue.
                                      "MaxSubmitJob"};
    return std::ranges::any_of(
        words, [&](std::string_view word) { return err.find(word) != std::string_view::npos; });
}

bool says_gone(std::string_view err)
{
    return err.find("Invalid job id") != std::string_view::npos ||
           err.find("already completing or completed") != std::string_view::npos;
}

std::string own_user()
{
    return std::to_string(::geteuid());
}

Result<os::Output>
call(const Installation& where, std::vector<std::string> words, const std::stop_token& stop)
{
    const auto name = words.front();
    auto done = os::run({.argv = std::move(words),
                         .env = environment_for(where),
                         .directory = "/",
                         .input = {},
                         .session = os::Command::Session::own,
                         .descriptors = {},
                         .program = where.folder + "/" + name},
                        after(patience),
                        stop,
                        longest_answer);
    if (!done && done.error().kind() == ErrorKind::timeout)
        return fail(ErrorKind::unreachable,
                    "Slurm's controller did not answer '{}' within {} s",
                    name,
                    std::chrono::seconds(patience).count());
    if (!done) return tl::unexpected(done.error());
    // Login nodes have guards that end processes.
    if (done->exit.signal != 0)
        return fail(ErrorKind::unreachable, "{} was killed before it answered", name);
    if (done->exit.status() != 0 && says_unreachable(done->err))
        return fail(ErrorKind::unreachable, "{}: {}", name, complaint_of(done->err));
    return done;
}

std::vector<std::string> squeue_words()
{
    return {"squeue", "-h", "-u", own_user(), "-t", "all", "-o", "%A|%T|%N|%j|%r"};
}

Error refusal(const std::string& name, const os::Output& done)
{
    auto what = complaint_of(done.err);
    if (what.empty()) what = fmt::format("it ended with exit code {}", done.exit.status());
    return {ErrorKind::unavailable, fmt::format("{}: {}", name, what)};
}

}  // namespace

Result<Installation> find_slurm(const std::vector<std::string>& environment)
{
    const auto path = os::variable(environment, "PATH") +
                      ":/usr/bin:/usr/local/bin:/opt/slurm/bin:/usr/local/slurm/bin:"
                      "/cm/shared/apps/slurm/current/bin";
    const auto sbatch = os::find_program("sbatch", path);
    if (!sbatch)
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  "there is no 'sbatch' on PATH: this machine has no Slurm commands",
                  "Write the cluster's login node as 'address: HOST' in the target's .compute "
                  "file, or submit on the login node."));
    return Installation{sbatch->parent_path().native(), os::variable(environment, "SLURM_CONF")};
}

Result<std::string> SlurmClient::ask(std::vector<std::string> words, std::stop_token stop) const
{
    const auto name = words.front();
    auto done = TRY(call(where_, std::move(words), stop));
    if (done.exit.status() != 0) return tl::unexpected(refusal(name, done));
    return std::move(done.out);
}

Result<std::string> SlurmClient::submit(const std::vector<std::string>& options,
                                        const Path& script,
                                        std::stop_token stop) const
{
    std::vector<std::string> words{"sbatch", "--parsable"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(script.native());
    const auto said = TRY(ask(std::move(words), std::move(stop)));
    auto number = parse_sbatch(said);
    if (number.empty())
        return fail(ErrorKind::unreachable, "sbatch printed no job number: '{}'", printable(said));
    return number;
}

Result<SlurmJobs> SlurmClient::list(std::stop_token stop) const
{
    return parse_jobs(TRY(ask(squeue_words(), std::move(stop))));
}

Result<SlurmJobs> SlurmClient::find_by_name(const std::string& name, std::stop_token stop) const
{
    auto words = squeue_words();
    words.push_back("--name=" + name);
    return parse_jobs(TRY(ask(std::move(words), std::move(stop))));
}

Result<std::optional<SlurmJob>> SlurmClient::find_in_accounts(const std::string& job,
                                                              const std::string& name,
                                                              std::stop_token stop) const
{
    std::error_code problem;
    if (!std::filesystem::exists(os::Path(where_.folder) / "sacct", problem)) return std::nullopt;
    const auto done =
        TRY(call(where_,
                 {"sacct", "-n", "-P", "-X", "-j", job, "-o", "JobIDRaw,State,NodeList,JobName"},
                 stop));
    // Many sites keep no accounts, or do not show them.
    if (done.exit.status() != 0) return std::nullopt;
    const auto jobs = parse_jobs(done.out);
    const auto found = jobs.find(job);
    // Accounts call a job running for ever whose end the controller has missed.
    if (found == jobs.end() || found->second.name != name || !found->second.is_over())
        return std::nullopt;
    return found->second;
}

Result<> SlurmClient::cancel(const std::string& name, std::stop_token stop) const
{
    const auto done = TRY(call(where_, {"scancel", "-u", own_user(), "--name=" + name}, stop));
    if (done.exit.status() == 0 || says_gone(done.err)) return {};
    return tl::unexpected(refusal("scancel", done));
}

Result<> SlurmClient::terminate(const std::string& name, std::stop_token stop) const
{
    const auto done = TRY(call(
        where_, {"scancel", "--batch", "--signal=TERM", "-u", own_user(), "--name=" + name}, stop));
    if (done.exit.status() == 0 || says_gone(done.err)) return {};
    return tl::unexpected(refusal("scancel", done));
}

}  // namespace ponk::executor::slurm
