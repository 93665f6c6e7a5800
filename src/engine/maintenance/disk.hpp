// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"
#include "executor/job/environment_report.hpp"
#include "os/disk_use.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

// What ponk's data takes on the disk, and what can go (docs/design/disk.md).
namespace ponk::engine {

struct DiskReport {
    struct Part {
        std::string name;
        std::uint64_t bytes = 0;
    };
    struct ProjectUse {
        store::Project project;
        std::int64_t runs = 0;
        std::uint64_t copies = 0;   // bytes of what scripts left in their copies of the project
        std::uint64_t records = 0;  // bytes of logs, metrics and notes
    };
    std::vector<Part> parts;
    std::vector<ProjectUse> projects;  // the largest first
    std::uint64_t free = 0;            // of the file system
    std::uint64_t size = 0;
};

Result<DiskReport> measure_disk(const Context& context, const std::stop_token& stop);

// PONK_COPY_KEEP_DAYS (30) and PONK_COPY_KEEP_SIZE (bytes, 50 GiB), as the daemon was started with
// them; 0 switches one off.
CopyRules copy_rules(const std::vector<std::string>& variables);

struct PruneRules {
    CopyRules copies;
    executor::EnvironmentRules environments;
    std::string project;  // only its runs; empty: all
    enum class Store { keep, collect } store = Store::keep;
};

struct PrunedCopy {
    model::Run run;
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;  // outside of outputs: nothing else has them
};

struct PruneReport {
    std::vector<PrunedCopy> copies;
    std::vector<executor::EnvironmentEntry> environments;
    std::uint64_t store_bytes = 0;  // of what no run uses any more
    std::vector<std::string> problems;
};

// What would go: runs that have ended, the oldest first.
Result<std::vector<PrunedCopy>> copies_to_prune(const Context& context,
                                                const CopyRules& rules,
                                                const std::string& project,
                                                const std::stop_token& stop);
// What would go in all, or what went.
Result<PruneReport>
plan_prune(const Context& context, const PruneRules& rules, const std::stop_token& stop);
Result<PruneReport>
prune(const Context& context, const PruneRules& rules, const std::stop_token& stop);

}  // namespace ponk::engine
