// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

#include <optional>

namespace ponk::executor::docker {

// What we must know about a run's container after any crash. It lies beside the run directories,
// not in them: a container may write to its own.
struct ContainerNote {
    Path socket;  // of the engine that has the container
    Container::Tree tree = model::Container::Tree::mounted;
    // The engine has started it: from then on, one that is not there was removed.
    enum class Stage { given, started } stage = Stage::given;
};

// The notes of one PONK_HOME: `containers/ID`. A value.
class ContainerNotes {
public:
    explicit ContainerNotes(const Path& home) : folder_(home / "containers") {}

    Result<> write(const std::string& run, const ContainerNote& note) const;
    // nullopt when the run was never given to an engine.
    [[nodiscard]] Result<std::optional<ContainerNote>> find(const std::string& run) const;
    Result<> remove(const std::string& run) const;

private:
    Path folder_;
};

}  // namespace ponk::executor::docker
