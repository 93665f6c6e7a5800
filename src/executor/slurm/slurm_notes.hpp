// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/slurm/slurm_client.hpp"

#include <optional>
#include <string>

namespace ponk::executor::slurm {

// Which job a run is. Kept outside of the run's directory, where a script could change it.
struct SlurmNote {
    Installation where;
    std::string job;   // its number; empty: it was about to be submitted
    std::string gres;  // the GPUs that it was promised; empty: none

    static constexpr auto fields()
    {
        return std::tuple(field("where", &SlurmNote::where),
                          field("job", &SlurmNote::job),
                          field("gres", &SlurmNote::gres));
    }
};

// $PONK_HOME/slurm/RUN (docs/design/slurm.md).
class SlurmNotes {
public:
    explicit SlurmNotes(const Path& home) : folder_(home / "slurm") {}

    Result<> write(const std::string& run, const SlurmNote& note) const;
    [[nodiscard]] Result<std::optional<SlurmNote>> find(const std::string& run) const;
    Result<> remove(const std::string& run) const;

private:
    Path folder_;
};

}  // namespace ponk::executor::slurm
