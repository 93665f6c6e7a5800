// SPDX-License-Identifier: Apache-2.0
// The lowest and highest of all points of metrics, asked for where a column shows them. Of a run that has ended they
// are asked for once; of one that goes on, when its last value changed.
import { fetchCurves } from '../charts/curves';
import { isActive, type Run } from '../api/types';

interface Known {
  of: string;
  min: number | null;
  max: number | null;
}
const most_runs = 100;
const narrowest = 16;

class Extremes {
  #known = new Map<string, Known>();
  #tick = $state(0);
  #wanted: { runs: Run[]; keys: string[] } = { runs: [], keys: [] };
  #asking = false;

  /** undefined: not known yet. */
  of(run: string, key: string): Known | undefined {
    void this.#tick;
    return this.#known.get(`${run} ${key}`);
  }
  want(runs: Run[], keys: string[]): void {
    this.#wanted = { runs, keys };
    if (!this.#asking) void this.#ask();
  }

  #stamp(run: Run, key: string): string {
    return isActive(run) ? JSON.stringify(run.metrics[key]) : 'ended';
  }
  async #ask(): Promise<void> {
    this.#asking = true;
    for (;;) {
      const { keys } = this.#wanted;
      const runs = this.#wanted.runs.filter((run) => keys.some((key) => key in run.metrics && this.#known.get(`${run.run_id} ${key}`)?.of !== this.#stamp(run, key))).slice(0, most_runs);
      if (runs.length === 0) break;
      try {
        const { curves } = await fetchCurves({ runs: runs.map((run) => run.run_id), keys: keys.slice(0, 100), axis: 'step', window: null, width: narrowest, smooth: 0 }, new AbortController().signal);
        const found = new Map(curves.map((curve) => [`${curve.run} ${curve.key}`, curve]));
        for (const run of runs) {
          for (const key of keys) {
            const place = `${run.run_id} ${key}`;
            this.#known.set(place, { of: this.#stamp(run, key), min: found.get(place)?.min ?? null, max: found.get(place)?.max ?? null });
          }
        }
        this.#tick++;
      } catch {
        // The next change of the table asks again.
        break;
      }
    }
    this.#asking = false;
  }
}
export const extremes = new Extremes();
