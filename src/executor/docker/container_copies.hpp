// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/capabilities.hpp"
#include "executor/docker/container_note.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/working_copy.hpp"

namespace ponk::executor::docker {

// The working copies of runs in containers: mounted, so in the run directory, or copied, so in the
// container alone. Refers to what its executor has.
class ContainerCopies final : public WorkingCopies {
public:
    ContainerCopies(const TreeStore& trees, const RunKeys& keys, const ContainerNotes& notes)
        : trees_(trees), keys_(keys), notes_(notes)
    {
    }

    Result<std::optional<Digest>>
    fetch(const std::string& handle, const RunDirectory& directory, std::stop_token stop) override;
    [[nodiscard]] bool may_have_outputs(const RunDirectory& directory) const override;

private:
    const TreeStore& trees_;
    const RunKeys& keys_;
    const ContainerNotes& notes_;
};

}  // namespace ponk::executor::docker
