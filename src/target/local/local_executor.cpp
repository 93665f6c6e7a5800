// SPDX-License-Identifier: Apache-2.0
#include "target/local/local_executor.hpp"

#include "base/synced.hpp"
#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "target/command_line.hpp"
#include "target/control_directory.hpp"
#include "target/control_seal.hpp"
#include "target/embedded.hpp"
#include "target/environment.hpp"
#include "target/local/local_run.hpp"
#include "target/run_files.hpp"
#include "target/watcher.hpp"
#include "target/working_copy.hpp"

#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::target::local {

using namespace std::chrono_literals;

namespace {

// Bytes that a child can read and no disk ever sees.
Result<os::Fd> in_memory(std::string_view bytes)
{
    os::Fd fd(::memfd_create("environment", MFD_CLOEXEC));
    if (!fd) return fail_errno(errno, "get memory for the environment");
    TRY(os::write_all(fd.get(), bytes));
    ::lseek(fd.get(), 0, SEEK_SET);
    return fd;
}

// What the supervisor says about its start; empty when it died without a word.
Result<std::string> read_report(const os::Fd& from, std::stop_token stop)
{
    std::string said;
    const auto deadline = after(60s);
    while (!said.ends_with('\n')) {
        TRY(os::wait_readable(from.get(), deadline, stop));
        char block[1024];
        const auto got = ::read(from.get(), block, sizeof block);
        if (got < 0 && errno != EINTR) return fail_errno(errno, "hear from the supervisor");
        if (got == 0) break;
        said.append(block, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    return std::string(trim(said));
}

// Undoes the claim of a supervisor that died before the script began. Only with the lock in hand
// is it certain that nobody is about to start it.
Result<bool> withdraw_claim(const Path& directory)
{
    const auto lock = TRY(os::open_file(directory / control::lock, O_RDWR | O_CREAT));
    struct flock whole {};
    whole.l_type = F_WRLCK;
    if (::fcntl(lock.get(), F_OFD_SETLK, &whole) != 0) return false;
    if (is_there(directory / control::pid) || is_there(directory / control::exit)) return false;
    ::rmdir((directory / control::claim).c_str());
    return true;
}

class LocalExecutor final : public Executor {
public:
    LocalExecutor(Options options, Path stub, Path python, RunKeys keys)
        : options_(std::move(options)), stub_(std::move(stub)), python_(std::move(python)),
          keys_(std::move(keys))
    {
    }

    Result<Notices>
    place(const JobSpec& spec, const Progress& /*progress*/, std::stop_token stop) override
    {
        return place_working_copy(options_.trees, spec, stop);
    }

    Result<std::string> launch(const JobSpec& spec, std::stop_token stop) override
    {
        const auto job = spec.id.text();
        if (is_there(spec.directory / control::claim) && !TRY(withdraw_claim(spec.directory)))
            return job;
        const auto environment = TRY(write_spec(spec, stop));
        if (!spec.shared_directory.empty()) TRY(os::make_directories(spec.shared_directory, 0755));
        // A supervisor killed before the script began has done nothing: the next one may try.
        for (int attempt = 0; attempt < 20; ++attempt) {
            const auto said = TRY(start_stub(spec, environment, stop));
            if (said == "started" || said == "claimed") return job;
            if (said.starts_with("error ")) {
                TRY(withdraw_claim(spec.directory));
                return fail(ErrorKind::unavailable, "supervisor: {}", printable(said.substr(6)));
            }
            if (!TRY(withdraw_claim(spec.directory))) return job;
        }
        return fail(ErrorKind::unavailable,
                    "the supervisor {} is killed again and again before it can start the script",
                    os::in_quotes(stub_));
    }

    Result<JobStatus> sync(const std::string& job,
                           const Path& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        const auto run = run_in(job, directory);
        open_up(directory);
        const Watcher::Subscription subscription(watcher_, directory);
        for (;;) {
            subscription.bell().silence();
            open_up(directory);
            auto status = TRY(run->look());
            // A script can remove its own folder before we have seen who it is.
            if (status.phase == JobPhase::starting && !is_there(directory))
                return fail(ErrorKind::not_found, "{} is not there", os::in_quotes(directory));
            if (status.phase == JobPhase::ended || status.phase == JobPhase::lost)
                forget(directory, *run);
            if (is_new(status, seen) || Deadline::clock::now() >= deadline) return status;
            auto wake = run->next_wake();
            wake.descriptors.push_back(subscription.bell().fd());
            if (!subscription.works()) wake.at = std::min(wake.at, after(50ms));
            const auto waited = os::wait_any(wake.descriptors, std::min(deadline, wake.at), stop);
            if (!waited && waited.error().kind() != ErrorKind::timeout)
                return tl::unexpected(waited.error());
        }
    }

    Result<>
    cancel(const std::string& job, const Path& directory, std::chrono::seconds grace) override
    {
        open_up(directory);
        if (!is_there(directory) || TRY(files_of(job, directory).find(control::exit))) return {};
        // On a full disk the signal alone must do.
        const auto noted = request_end(directory, grace);
        run_in(job, directory)->ask_to_end();
        return noted || is_there(directory / control::pid) ? Result<>() : noted;
    }

    Result<Collected> collect(const std::string& /*job*/,
                              const Path& directory,
                              const BeforeStoring& before,
                              std::stop_token stop) override
    {
        return collect_outputs(options_.trees, directory, before, stop);
    }

    [[nodiscard]] bool may_have_outputs(const Path& directory) const override
    {
        open_up(directory / control::work);
        return is_there(directory / control::work / "outputs");
    }

    Result<> clean(const std::string& job, const Path& directory) override
    {
        open_up(directory);
        return clean_run_directory(files_of(job, directory), directory);
    }

private:
    [[nodiscard]] SealedFiles files_of(const std::string& job, const Path& directory) const
    {
        return {directory, keys_.of(job)};
    }

    // Returns key and environment as the supervisor wants them.
    Result<std::string> write_spec(const JobSpec& spec, std::stop_token stop)
    {
        const auto tree = spec.directory / control::work;
        auto environment = compose_environment(spec,
                                               spec.ambient,
                                               {.tree = tree.string(),
                                                .control = spec.directory.string(),
                                                .python_modules = python_.string(),
                                                .shared = spec.shared_directory});
        auto line = TRY(command_line(spec, tree, environment.words(), stop));
        for (const auto& [name, value] : line.variables)
            environment.set(name, value);
        const StubSpec text{.run = spec.id.text(),
                            .token = spec.token,
                            .directory = tree.string(),
                            .program = line.program.string(),
                            .argv = std::move(line.argv),
                            .umask = spec.umask,
                            .time_limit = spec.time_limit,
                            .grace = spec.grace};
        TRY(os::make_directories(spec.directory / control::journal));
        // Its name need not outlive a power cut: the supervisor would not either.
        TRY(os::replace_file(
            spec.directory / control::spec, to_text(text), 0600, os::Durable::content));
        return keys_.of(spec.id.text()) + '\0' + environment.bytes();
    }

    Result<std::string>
    start_stub(const JobSpec& spec, const std::string& environment, std::stop_token stop)
    {
        const auto null = TRY(os::open_file("/dev/null", O_RDWR));
        const auto memory = TRY(in_memory(environment));
        auto report = TRY(os::make_pipe());
        auto child = TRY(os::spawn({.argv = {stub_.string(), spec.directory.string(), "3", "4"},
                                    .env = std::vector<std::string>(),
                                    .descriptors = {{null.get(), 0},
                                                    {null.get(), 1},
                                                    {null.get(), 2},
                                                    {memory.get(), 3},
                                                    {report.write.get(), 4}}}));
        report.write.reset();
        watcher_.reap_later(std::move(child.pidfd));
        return read_report(report.read, stop);
    }

    std::shared_ptr<LocalRun> run_in(const std::string& job, const Path& directory)
    {
        const auto runs = runs_.lock();
        auto& run = (*runs)[directory.string()];
        if (!run) run = std::make_shared<LocalRun>(directory, files_of(job, directory));
        return run;
    }

    void forget(const Path& directory, LocalRun& run)
    {
        for (auto& process : run.take_remains())
            watcher_.reap_later(std::move(process));
        runs_.lock()->erase(directory.string());
    }

    Options options_;
    Path stub_;
    Path python_;
    RunKeys keys_;
    Watcher watcher_;
    // Shared with the threads that are inside sync() for that run.
    Synced<std::map<std::string, std::shared_ptr<LocalRun>>> runs_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(Options options)
{
    const auto lib = options.home / "lib";
    auto stub = TRY(install_stub(lib).map_error(while_doing("install the supervisor")));
    auto python = TRY(install_python_modules(lib).map_error(while_doing("install Python modules")));
    auto keys = TRY(RunKeys::load(options.home / "run.key"));
    // Scripts whose supervisor is killed become our children, so that their codes reach us.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return std::make_unique<LocalExecutor>(
        std::move(options), std::move(stub), std::move(python), std::move(keys));
}

}  // namespace ponk::target::local
