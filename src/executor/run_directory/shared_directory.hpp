// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

// The folder that the runs of a project share. It is in the user's home, so it is made only for who
// uses it.
namespace ponk::executor {

inline constexpr std::string_view shared_variable = "AZUREML_NATIVE_SHARE_DIRECTORY";

// Whether the run shall have it: a file of the project chose another place than the usual one, it
// is there already, or the run's files or words name its variable. Asked once the copy of the
// project is there. A project too large to be looked through has it.
bool wants_shared_directory(const Job& job);

// Makes it, where it is wanted.
Result<> make_shared_directory(const Job& job);

}  // namespace ponk::executor
