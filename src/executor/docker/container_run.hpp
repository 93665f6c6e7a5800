// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/docker/container_note.hpp"
#include "executor/job/job.hpp"
#include "executor/run_directory/control_seal.hpp"

namespace ponk::executor::docker {

// One run in a container, as its directory shows it; the engine is asked only when the directory
// is silent.
class ContainerRun {
public:
    ContainerRun(Path directory, SealedFiles files, ContainerNotes notes, std::string container)
        : directory_(std::move(directory)), files_(std::move(files)), notes_(std::move(notes)),
          container_(std::move(container))
    {
    }

    Result<JobStatus> look(std::stop_token stop) const;

private:
    JobStatus ask_engine(JobStatus status, std::stop_token stop) const;

    Path directory_;
    SealedFiles files_;
    ContainerNotes notes_;
    std::string container_;
};

}  // namespace ponk::executor::docker
