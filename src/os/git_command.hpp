// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/process.hpp"

#include <string>
#include <vector>

// The one place that says how git is called. A repository may be somebody else's: its .git/config
// can name programs for nearly everything that git does (transports, hooks, filters, monitors,
// pagers), and none of them may run because we look at it.
namespace ponk::os {

// A question about the repository that holds `folder`, answered from what lies on the disk. `words`
// is a command of git's that neither reads nor writes files of the work tree (no filters), and its
// arguments. Objects that a partial clone lacks are missing, not fetched.
Command git_question(const Path& folder, const std::vector<std::string>& words);

// `git clone` of an address that the user gave. The folder we are in has no say, and what is cloned
// runs nothing: no hooks (a template's neither), no submodules, no transports that are commands.
Command git_clone(const std::string& address, const Path& to);

// `git --version`.
Command git_version(const Path& program);

}  // namespace ponk::os
