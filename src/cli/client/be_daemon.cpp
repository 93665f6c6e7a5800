// SPDX-License-Identifier: Apache-2.0
#include "cli/client/be_daemon.hpp"

#include "cli/client/daemon_start.hpp"

#include <sys/prctl.h>

namespace ponk::cli {

Result<> be_daemon(const Entry& entry, const DaemonOptions& options)
{
    if (entry.run_daemon == nullptr)
        return fail(ErrorKind::internal, "this program does not contain the daemon");
    TRY(make_home(options.home));
    // Secrets and the key of runs are in our memory: it is in no core file, and other processes of
    // the user, such as the scripts, cannot look into it.
    ::prctl(PR_SET_DUMPABLE, 0);
    return entry.run_daemon(options);
}

}  // namespace ponk::cli
