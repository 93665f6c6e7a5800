// SPDX-License-Identifier: Apache-2.0
// A run as it is now: asked for again while it is under way, and what was last known while nobody answers.
import { ApiError, ask, get } from '../api/client';
import { active, type Artifacts, type MetricList, type Run, type RunEvent } from '../api/types';
import { visible } from '../parts/numbers';

export class RunLook {
  run = $state.raw<Run | null>(null);
  names = $state.raw<string[] | null>(null);
  files = $state.raw<Artifacts | null>(null);
  events = $state.raw<RunEvent[]>([]);
  problem = $state<unknown>(null);
  /** When the daemon stopped to answer; what is shown is from before. */
  since = $state<number | null>(null);
  /** Counts looks that may have found other points. */
  turn = $state(0);
  private readonly stop = new AbortController();
  private timer = 0;
  private shown = '';

  constructor(readonly id: string) {
    void this.round();
  }
  close(): void {
    this.stop.abort();
    clearTimeout(this.timer);
  }
  get live(): boolean {
    return this.run !== null && active.includes(this.run.status);
  }

  async look(): Promise<void> {
    const { signal } = this.stop;
    try {
      const run = await get<Run>(`api/v1/runs/${encodeURIComponent(this.id)}`, signal);
      const path = `api/v1/runs/${run.run_id}`;
      const print = JSON.stringify([run.metrics, run.status]);
      const [events, names, files] = await Promise.all([
        ask(`${path}/events?after=${this.events.at(-1)?.seq ?? 0}`, { signal }).then((answer) => answer.text()),
        this.names && print === this.shown ? this.names : get<MetricList>(`${path}/metrics?points=0`, signal).then(({ metrics }) => Object.keys(metrics)),
        this.files && !this.live && !active.includes(run.status) ? this.files : get<Artifacts>(`${path}/artifacts`, signal),
      ]);
      const added = events.split('\n').filter(Boolean).map((line) => JSON.parse(line) as RunEvent);
      if (added.length > 0) this.events = [...this.events, ...added];
      if (print !== this.shown) {
        this.turn++;
        const sorted = names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
        if (sorted.join('\n') !== this.names?.join('\n')) this.names = sorted;
      }
      this.shown = print;
      this.files = files;
      this.run = run;
      [this.problem, this.since] = [null, null];
    } catch (error) {
      if (signal.aborted) return;
      this.problem = error;
      if (error instanceof ApiError && error.kind === 'offline') this.since ??= Date.now();
    }
  }
  private async round(): Promise<void> {
    if (document.visibilityState === 'visible' || !this.run) await this.look();
    if (this.stop.signal.aborted) return;
    const gone = this.problem instanceof ApiError && this.problem.status === 404;
    if (!gone) this.timer = window.setTimeout(() => void this.round(), this.live || this.problem ? 2000 : 15_000);
  }
}

export const nameOf = (run: Pick<Run, 'name' | 'script_name'>) => visible(run.name || run.script_name);
