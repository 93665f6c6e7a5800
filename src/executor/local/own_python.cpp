// SPDX-License-Identifier: Apache-2.0
#include "executor/local/own_python.hpp"

#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/supervisor/command_line.hpp"
#include "os/process.hpp"

namespace ponk::executor::local {

using namespace std::chrono_literals;

Result<Examination> examine_own_python(const Job& job, std::stop_token stop)
{
    Examination out;
    const auto found =
        find_interpreter(job, job.context.directory.work(), job.context.submitter_environment);
    if (!found) {
        out.reason = found.error().message();
        out.remarks.push_back({"error", found.error().message(), found.error().hint()});
        return out;
    }
    out.interpreter = found->string();
    const auto asked = TRY(os::run({.argv = {out.interpreter,
                                             "-E",
                                             "-s",
                                             "-c",
                                             "import platform;print(platform.python_version())"},
                                    .env = job.context.submitter_environment,
                                    .directory = "/"},
                                   after(60s),
                                   stop));
    out.version = trim(asked.out);
    out.ready = asked.exit.status() == 0 && !out.version.empty();
    if (out.ready) {
        out.reason = "you install the packages of this target yourself";
        return out;
    }
    out.reason = fmt::format("'{}' does not start", printable(out.interpreter));
    out.remarks.push_back(
        {"error",
         fmt::format("{}: {}", out.reason, printable(trim(asked.err))),
         "Set 'pythonLocation' of the target to the path of a working Python program."});
    return out;
}

}  // namespace ponk::executor::local
