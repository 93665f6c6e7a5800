// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/synced.hpp"
#include "base/time.hpp"

#include <map>
#include <optional>
#include <string>

namespace ponk::executor::slurm {

// Submissions of which it is not known whether they were accepted, or that are to be repeated when
// there is room: for a while the same is answered without asking anybody. Any thread may call.
class Doubts {
public:
    void add(const std::string& run, const Error& error)
    {
        held_.lock()->insert_or_assign(run, Doubt{after(pause), error});
    }
    std::optional<Error> find(const std::string& run)
    {
        const auto held = held_.lock();
        const auto found = held->find(run);
        if (found == held->end()) return std::nullopt;
        if (Deadline::clock::now() < found->second.until) return found->second.error;
        held->erase(found);
        return std::nullopt;
    }

private:
    static constexpr std::chrono::seconds pause{10};

    struct Doubt {
        Deadline until;
        Error error;
    };
    Synced<std::map<std::string, Doubt>> held_;
};

}  // namespace ponk::executor::slurm
