// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/docker/container_note.hpp"
#include "executor/job/job.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/run_files.hpp"

#include <functional>

namespace ponk::executor::docker {

// For a question about a run: an engine that fails, or does not answer in time, has not been
// reached.
std::function<Error(const Error&)> not_asked(const Path& socket);

// One run in a container, as its directory shows it; the engine is asked only when the directory
// is silent.
class ContainerRun {
public:
    ContainerRun(RunDirectory directory,
                 SealedFiles files,
                 ContainerNotes notes,
                 std::string container)
        : directory_(std::move(directory)), files_(std::move(files)), notes_(std::move(notes)),
          container_(std::move(container))
    {
    }

    // `unreachable` when the engine would have to be asked and does not answer.
    Result<JobStatus> look(std::stop_token stop) const;

private:
    Result<Liveness> liveness(const std::optional<RunProcesses>& processes,
                              const std::stop_token& stop) const;
    Result<Liveness> ask_engine(const ContainerNote& note,
                                const std::optional<RunProcesses>& processes,
                                const std::stop_token& stop) const;

    RunDirectory directory_;
    SealedFiles files_;
    ContainerNotes notes_;
    std::string container_;
};

}  // namespace ponk::executor::docker
