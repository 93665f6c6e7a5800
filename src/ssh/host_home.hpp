// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// The folder of ponk on a host, as scripts there find it.
namespace ponk::ssh {

// The beginning of a script of POSIX sh. It sets `h`, the folder without links on the way: ~/.ponk,
// or SCRATCH/ponk-UID; and `l`, the link that leads there when that name is one, else nothing. The
// folder need not be there; one that another user made, filled or may exchange ends the script with
// a sentence and advice on standard error, before anything in it is used. `require_ours PATH` says
// the same about a file or folder below it.
std::string find_host_home(const std::string& scratch);

// With the above, makes `h` and the folder `bin` in it; ends the script when it cannot.
std::string make_host_home();

}  // namespace ponk::ssh
