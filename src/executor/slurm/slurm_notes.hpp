// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/slurm/slurm_client.hpp"

#include <map>
#include <optional>
#include <string>

namespace ponk::executor::slurm {

// Which job a run is. Kept outside of the run's directory, where a script could change it.
struct SlurmNote {
    Installation where;
    std::string job;    // its number; empty: it was about to be submitted
    std::string lease;  // a lock file that keeps the run's environment of packages; empty: none

    static constexpr auto fields()
    {
        return std::tuple(field("where", &SlurmNote::where),
                          field("job", &SlurmNote::job),
                          field("lease", &SlurmNote::lease));
    }
};

// $PONK_HOME/slurm/RUN (docs/design/slurm.md).
class SlurmNotes {
public:
    explicit SlurmNotes(const Path& home) : folder_(home / "slurm") {}

    Result<> write(const std::string& run, const SlurmNote& note) const;
    [[nodiscard]] Result<std::optional<SlurmNote>> find(const std::string& run) const;
    // All that can be read, by run.
    [[nodiscard]] std::map<std::string, SlurmNote> all() const;
    Result<> remove(const std::string& run) const;

private:
    Path folder_;
};

}  // namespace ponk::executor::slurm
