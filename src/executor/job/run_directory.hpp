// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>

namespace ponk::executor {

using os::Path;

// The folder of a run on one machine, and the places in it (docs/design/run-directory.md). A run
// consists of attempts, an attempt of tasks (ranks): today there is one of each. A value.
class RunDirectory {
public:
    RunDirectory() = default;
    explicit RunDirectory(Path root) : root_(std::move(root)) {}

    // What is the run's own: its record, its working copy.
    [[nodiscard]] const Path& root() const noexcept { return root_; }
    // The run's id.
    [[nodiscard]] std::string name() const { return root_.filename().native(); }
    // The script's copy of the project.
    [[nodiscard]] Path work() const { return root_ / work_part(); }
    // The same inside a container: the predecessor's name, on which scripts rely.
    static constexpr const char* work_in_container = "/azureml-run";
    [[nodiscard]] Path outputs() const { return work() / "outputs"; }
    // Where the supervisor of the task and the script write: control files, log, journals.
    [[nodiscard]] Path task() const { return root_ / task_part(); }
    // These places, seen from the root.
    [[nodiscard]] static Path work_part() { return "work"; }
    [[nodiscard]] static Path task_part() { return "attempts/1/tasks/0"; }

    friend bool operator==(const RunDirectory&, const RunDirectory&) = default;

private:
    Path root_;
};

}  // namespace ponk::executor
