// SPDX-License-Identifier: Apache-2.0
// Columns of the runs table: fixed ones, and one for each metric, parameter or tag that was chosen. A column's id
// is what is remembered: `state`, `metric:loss` (its last value), `min:loss`, `best:loss`, `param:lr`, `tag:team`.
import type { Run } from '../api/types';
import { t, type Key } from '../i18n/i18n.svelte';
import { better } from '../parts/direction';
import { extremes } from './extremes.svelte';

/** Which of a metric's points a column shows. */
export const figures = ['min', 'max', 'best'] as const;
export type Figure = 'last' | (typeof figures)[number];
export type Kind = 'fixed' | 'metric' | 'param' | 'tag';
export interface Column {
  id: string;
  kind: Kind;
  /** Of a metric, parameter or tag. */
  key: string;
  figure?: Figure;
  label?: Key;
  width: string;
  /** Least width in pixels: the table scrolls sideways below the sum. */
  least: number;
  right?: boolean;
  /** What the search is ordered by; without it the column cannot be. */
  order?: string;
}

const fixed = (id: string, label: Key, least: number, grow: number, order?: string, right = false): Column => ({
  id, kind: 'fixed', key: id, label, least, width: grow ? `minmax(${least}px, ${grow}fr)` : `${least}px`, right, ...(order ? { order } : {}),
});

export const fixedColumns: Column[] = [
  fixed('state', 'runs.state', 110, 0, 'status'),
  fixed('project', 'runs.project', 90, 1),
  fixed('script', 'runs.script', 100, 1, 'script'),
  fixed('target', 'runs.target', 76, 1, 'target'),
  fixed('started', 'runs.started', 118, 0, 'start_time'),
  fixed('time', 'runs.time', 72, 0, undefined, true),
  fixed('gpu', 'runs.gpu', 116, 0),
  fixed('user', 'runs.user', 80, 0, 'user'),
  fixed('tags', 'runs.tags', 130, 1.2),
];
const firstFixed = ['state', 'script', 'target', 'started', 'time', 'gpu'];
const firstWhenNarrow = ['state', 'started', 'time', 'gpu'];

/** As the filter language has it. */
export function entityOf(kind: Kind | Exclude<Figure, 'last'>, key: string): string {
  const family = { fixed: 'tags', metric: 'metrics', param: 'params', tag: 'tags', min: 'min', max: 'max', best: 'best' }[kind];
  return `${family}.${/^[\w.]+$/.test(key) ? key : `\`${key}\``}`;
}

/** What a first click sorts by: the best or the newest first, as far as that is known. */
export function isDownFirst(column: Column): boolean {
  if (column.kind !== 'metric') return column.id === 'started';
  return column.figure === 'best' ? better(column.key) > 0 : column.figure !== 'min';
}

export function columnOf(id: string): Column | undefined {
  const known = fixedColumns.find((column) => column.id === id);
  if (known) return known;
  const found = /^(metric|min|max|best|param|tag):(.+)$/s.exec(id);
  if (!found) return undefined;
  const [word, key] = [found[1] as Exclude<Kind, 'fixed'> | Exclude<Figure, 'last'>, found[2] ?? ''];
  const number = word !== 'param' && word !== 'tag';
  const kind: Kind = number ? 'metric' : word;
  const figure = figures.find((one) => one === word) ?? 'last';
  const least = Math.min(180, Math.max(number ? 84 : 72, (key.length + (figure === 'last' ? 0 : 6)) * 7 + 34));
  const order = key.includes('`') || (figure === 'best' && better(key) === 0) ? '' : figure === 'last' ? entityOf(kind, key) : entityOf(figure, key);
  return { id, kind, key, least, width: number ? `${least}px` : `minmax(${least}px, 0.6fr)`, right: number, order, ...(number ? { figure } : {}) };
}
export const nameOf = (column: Column) => (column.label ? t(column.label) : column.figure && column.figure !== 'last' ? `${column.key} · ${t(`columns.figure.${column.figure}`)}` : column.key);

/** The latest value, also where the metric was logged as a list. */
export function latest(value: unknown): unknown {
  if (Array.isArray(value)) return value.at(-1);
  if (value !== null && typeof value === 'object') return (value as { last?: unknown }).last;
  return value;
}
/** undefined where it is not known, or nobody knows what is better. */
function figureOf(run: Run, key: string, figure: Exclude<Figure, 'last'>): number | undefined {
  const known = key in run.metrics ? extremes.of(run.run_id, key) : undefined;
  const way = better(key);
  if (figure === 'best') return (way === 0 ? null : way < 0 ? known?.min : known?.max) ?? undefined;
  return known?.[figure] ?? undefined;
}
export function valueOf(run: Run, column: Column): unknown {
  if (column.kind === 'metric') return column.figure && column.figure !== 'last' ? figureOf(run, column.key, column.figure) : latest(run.metrics[column.key]);
  return (column.kind === 'param' ? run.params : run.tags)[column.key];
}

/** Tags that programs keep for themselves are no news to people. */
const isOwnTag = (key: string) => /^(mlflow\.|ponk\.)/.test(key);
export const tagsOf = (run: Run) => Object.entries(run.tags).filter(([key]) => !isOwnTag(key));

export interface Known {
  id: string;
  /** How many of the runs have it. */
  count: number;
  differs: boolean;
}

/** Every column that these runs have values for, the most frequent first. */
export function knownColumns(runs: Run[]): Known[] {
  const seen = new Map<string, { count: number; value: unknown; differs: boolean }>();
  const note = (id: string, value: unknown) => {
    const before = seen.get(id);
    if (!before) seen.set(id, { count: 1, value, differs: false });
    else {
      before.count++;
      before.differs ||= before.value !== value;
    }
  };
  for (const run of runs) {
    for (const [key, value] of Object.entries(run.metrics)) note(`metric:${key}`, latest(value));
    for (const [key, value] of Object.entries(run.params)) note(`param:${key}`, value);
    for (const [key, value] of tagsOf(run)) note(`tag:${key}`, value);
  }
  // What only some have differs, too.
  return [...seen].map(([id, { count, differs }]) => ({ id, count, differs: differs || count < runs.length })).sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
}

/** What is shown before anybody has chosen: the first metrics, and parameters that differ, as far as there is room; of several projects, which. */
export function firstColumns(known: Known[], narrow: boolean, room: number, several: boolean): string[] {
  const metrics = known.filter(({ id }) => id.startsWith('metric:') && !id.startsWith('metric:system/')).slice(0, 3);
  const params = known.filter(({ id, differs }) => id.startsWith('param:') && differs).slice(0, 2);
  const ids = narrow ? firstWhenNarrow : several ? ['project', ...firstFixed] : firstFixed;
  const widthOf = (id: string) => columnOf(id)?.least ?? 0;
  // A phone shows one value of each run, whatever fits beside each other.
  let left = Math.max(room, 740) - 196 - ids.reduce((sum, id) => sum + widthOf(id), 0);
  const fitting = [...metrics, ...params].map(({ id }) => id).filter((id) => (left -= widthOf(id)) >= 0);
  const tags = known.some(({ id }) => id.startsWith('tag:')) && left >= widthOf('tags') ? ['tags'] : [];
  return [...ids, ...fitting, ...tags];
}

const place = (project: string) => `ponk.columns.${project}`;
export interface Choice {
  columns: string[];
  onlyDiffering: boolean;
}
export function rememberedColumns(project: string): Choice | null {
  try {
    const kept = JSON.parse(localStorage.getItem(place(project)) ?? 'null') as Choice | null;
    return kept && Array.isArray(kept.columns) ? kept : null;
  } catch {
    return null;
  }
}
export function rememberColumns(project: string, choice: Choice | null): void {
  if (choice) localStorage.setItem(place(project), JSON.stringify(choice));
  else localStorage.removeItem(place(project));
}
