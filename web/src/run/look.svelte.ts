// SPDX-License-Identifier: Apache-2.0
// A run as it is now: asked for when it has changed, and where nobody says so again and again while it is under way; and what was
// last known while nobody answers.
import { ApiError, ask, get } from '../api/client';
import { follow, isLive } from '../api/live';
import { active, type Artifacts, type LiveRun, type MetricList, type Run, type RunEvent } from '../api/types';
import { visible } from '../parts/numbers';

const interval = 2000;

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
  private told: LiveRun | null = null;
  private leave: () => void = () => undefined;

  constructor(readonly id: string) {
    void this.begin();
  }
  close(): void {
    this.stop.abort();
    clearTimeout(this.timer);
    this.leave();
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
        // They are told where somebody tells them.
        isLive() && this.told ? '' : ask(`${path}/events?after=${this.known}`, { signal }).then((answer) => answer.text()),
        this.names && print === this.shown ? this.names : get<MetricList>(`${path}/metrics?points=0`, signal).then(({ metrics }) => Object.keys(metrics)),
        this.files && !this.live && !active.includes(run.status) ? this.files : get<Artifacts>(`${path}/artifacts`, signal),
      ]);
      this.add(events.split('\n').filter(Boolean).map((line) => JSON.parse(line) as RunEvent));
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
  private get known(): number {
    return this.events.at(-1)?.seq ?? 0;
  }
  private get gone(): boolean {
    return this.problem instanceof ApiError && this.problem.status === 404;
  }
  private add(events: RunEvent[]): void {
    const added = events.filter(({ seq }) => seq > this.known);
    if (added.length > 0) this.events = [...this.events, ...added];
  }

  /** Which run it is must be known before it can be followed: the address may have a part of its id. */
  private async begin(): Promise<void> {
    await this.look();
    if (this.stop.signal.aborted || this.gone) return;
    if (!this.run) {
      this.timer = window.setTimeout(() => void this.begin(), interval);
      return;
    }
    this.leave = follow<LiveRun>(`run/${this.run.run_id}`, {
      look: () => this.look(),
      interval: () => (this.gone ? null : this.live || this.problem ? interval : 15_000),
      after: () => this.known,
      looked: true,
      hear: (news) => {
        const before = this.told;
        this.told = news;
        const events = news.seq > this.known;
        this.add(news.events);
        if (events || before?.state !== news.state || before?.row !== news.row) return 0;
        // Its log is another's; numbers may come many times a second.
        return before?.points === news.points ? null : interval;
      },
    });
  }
}

export const nameOf = (run: Pick<Run, 'name' | 'script_name'>) => visible(run.name || run.script_name);
