// SPDX-License-Identifier: Apache-2.0
// Every run that is under way, wherever it was submitted: asked for when one has changed, and where nobody says so every two
// seconds, while the page is looked at. `jobs.change` counts when lists of runs may have become others; they then ask, too.
import { ApiError, send } from '../api/client';
import { follow } from '../api/live';
import type { LiveList, Run, RunPage } from '../api/types';

// The filter language has no OR: what has not ended is neither of these.
const under_way = "status != 'FINISHED' AND status != 'FAILED' AND status != 'KILLED'";
const interval = 2000;

export const jobs = $state<{ runs: Run[]; more: boolean; known: boolean; change: number; offlineSince: number | null }>({
  runs: [], more: false, known: false, change: 0, offlineSince: null,
});

let shape = '';

async function look(): Promise<void> {
  try {
    const page = await send<RunPage>('POST', 'api/v1/runs/search', { filter: under_way, limit: 50, metrics: [] });
    jobs.runs = page.runs;
    jobs.more = page.next !== null && page.next !== '';
    const now = page.runs.map((run) => run.run_id + run.status).join();
    if (jobs.known && now !== shape) jobs.change++;
    shape = now;
    jobs.known = true;
    // What happened while the daemon was away is not known: look at everything again.
    if (jobs.offlineSince !== null) jobs.change++;
    jobs.offlineSince = null;
  } catch (problem) {
    if (problem instanceof ApiError && problem.kind === 'offline') jobs.offlineSince ??= Date.now();
  }
}

/** Until the returned function is called. */
export function startJobs(): () => void {
  let first = true;
  return follow<LiveList>('runs', {
    look,
    interval: () => interval,
    hear: ({ number, only_points }) => {
      if (only_points) return interval;
      // The very first says that there is something. That of another socket: what happened between is not known.
      if (number > 1 || !first) jobs.change++;
      first = false;
      return 0;
    },
  });
}
export const lookNow = look;
