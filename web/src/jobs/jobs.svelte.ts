// SPDX-License-Identifier: Apache-2.0
// Every run that is under way, wherever it was submitted: asked for again every two seconds while the page is
// looked at. `jobs.change` counts when the list became another one; lists of runs then ask, too.
import { ApiError, send } from '../api/client';
import type { Run, RunPage } from '../api/types';

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
  let ended = false;
  let timer = 0;
  const round = async () => {
    if (document.visibilityState === 'visible') await look();
    if (!ended) timer = window.setTimeout(() => void round(), interval);
  };
  void round();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
export const lookNow = look;
