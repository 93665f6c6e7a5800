// SPDX-License-Identifier: Apache-2.0
// What differs between runs: rows of one value for each run, in groups.
import type { Package, Run, Snapshot } from '../api/types';
import { better } from '../parts/direction';
import { verdictWord } from './words';

export type GroupName = 'run' | 'params' | 'metrics' | 'code' | 'packages' | 'environment' | 'data' | 'tags';
export const groups: readonly GroupName[] = ['params', 'metrics', 'run', 'code', 'packages', 'environment', 'data', 'tags'];
export interface Row {
  group: GroupName;
  name: string;
  values: (string | number | null)[];
  differs: boolean;
  /** Places of the best values, where it is known what is better. */
  best: number[];
}
export interface Known {
  run: Run;
  packages: Package[] | null;
  snapshot: Snapshot | null;
}

/** The last value of a metric, however the record has it. */
export const last = (value: unknown): string | number | null => {
  if (typeof value === 'number' || typeof value === 'string') return value;
  if (Array.isArray(value)) return last(value.at(-1));
  return value && typeof value === 'object' && 'last' in value ? last(value.last) : null;
};

function row(group: GroupName, name: string, values: Row['values']): Row {
  const differs = values.some((value) => value !== values[0]);
  const way = group === 'metrics' && differs ? better(name) : 0;
  const numbers = values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  const top = way === 0 || numbers.length < 2 ? null : way < 0 ? Math.min(...numbers) : Math.max(...numbers);
  return { group, name, values, differs, best: top === null ? [] : values.flatMap((value, at) => (value === top ? [at] : [])) };
}

/** One row for each name that any of the runs has. Runs of which nothing is known (null) do not differ. */
function spread(group: GroupName, all: (Record<string, string | number | null> | null)[]): Row[] {
  const names = [...new Set(all.flatMap((one) => Object.keys(one ?? {})))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const known = all.filter((one) => one !== null);
  return names.map((name) => {
    const whole = row(group, name, all.map((one) => one?.[name] ?? null));
    return { ...whole, differs: known.some((one) => (one[name] ?? null) !== (known[0]?.[name] ?? null)) };
  });
}

export function rowsOf(known: Known[], words: Record<'script' | 'arguments' | 'target' | 'status' | 'gpu' | 'duration' | 'image' | 'commit', string>, time: (milliseconds: number | null) => string, state: (word: string) => string): Row[] {
  const runs = known.map(({ run }) => run);
  const metrics = runs.map((run) => Object.fromEntries(Object.entries(run.metrics).filter(([name]) => !name.startsWith('system/')).map(([name, value]) => [name, last(value)])));
  return [
    ...spread('params', runs.map((run) => run.params)),
    ...spread('metrics', metrics),
    row('run', words.status, runs.map((run) => state(run.status))),
    row('run', words.gpu, runs.map((run) => verdictWord(run.gpu_verdict))),
    row('run', words.duration, runs.map((run) => time(run.duration_ms))),
    row('run', words.script, runs.map((run) => run.script_name)),
    row('run', words.arguments, runs.map((run) => run.arguments.join(' '))),
    row('run', words.target, runs.map((run) => run.target)),
    row('code', words.commit, runs.map((run) => (run.git ? run.git.commit.slice(0, 10) + (run.git.dirty ? ' +' : '') : null))),
    ...spread('code', known.map(({ snapshot }) => snapshot && Object.fromEntries((snapshot.files ?? []).map((file) => [file.path, file.digest?.slice(0, 8) ?? `${file.size} B`])))),
    ...spread('packages', known.map(({ packages }) => packages && Object.fromEntries(packages.map((one) => [one.name, one.version])))),
    row('environment', 'Python', runs.map((run) => run.environment?.version || null)),
    row('environment', words.image, runs.map((run) => run.environment?.base_image || null)),
    ...spread('data', runs.map((run) => Object.fromEntries((run.configuration?.inputs ?? []).map((input) => [input.path ?? '', input.digest?.slice(0, 12) ?? `${input.files ?? 0} / ${input.bytes ?? 0} B`])))),
    ...spread('tags', runs.map((run) => Object.fromEntries(Object.entries(run.tags).filter(([name]) => !name.startsWith('mlflow.'))))),
  ].filter((one) => one.values.some((value) => value !== null && value !== ''));
}
