// SPDX-License-Identifier: Apache-2.0
#include "executor/executor.hpp"

#include "base/text.hpp"
#include "environment/prepare.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_folder.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace ponk::executor {

namespace {

// As relays make them: the script could write any.
bool is_call_name(const std::string& name)
{
    return name.size() == 16 && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

}  // namespace

std::optional<environment::Prepared> Environments::take_staged(const RunId& /*run*/)
{
    return std::nullopt;
}

Result<> Executor::deliver(const std::string& /*handle*/,
                           const RunDirectory& directory,
                           const std::string& name,
                           std::string answer)
{
    if (!is_call_name(name))
        return fail(ErrorKind::invalid_argument, "'{}' is not a call of a script", printable(name));
    // Whatever the script put in its place is not followed.
    if (::mkdir((directory.task() / control::answers).c_str(), 0700) != 0 && errno != EEXIST)
        return fail_errno(errno, "make {}", os::in_quotes(directory.task() / control::answers));
    const auto folder =
        TRY(RunFolder::open(directory.root(), RunDirectory::task_part() / control::answers));
    return os::replace_file(folder.path() / name, answer, 0600, os::Durable::no)
        .map_error([&folder](const Error& error) { return folder.in_words(error); });
}

}  // namespace ponk::executor
