// SPDX-License-Identifier: Apache-2.0
// What a project's files name and its latest runs used: the choices of the run bar, and the targets that are looked at.
import { get, send } from '../api/client';
import type { ProjectTargets, Run, RunPage } from '../api/types';
import { isOwner } from '../session/session.svelte';
import { projects } from '../shell/projects.svelte';

export interface Known {
  configurations: string[];
  scripts: string[];
  targets: { name: string; type: string }[];
  last: Run | null;
}
const nothing: Known = { configurations: ['local'], scripts: [], targets: [{ name: 'local', type: 'local' }], last: null };
/** `aim`: the project that was chosen in the run bar, while all are shown. */
export const known = $state<{ of: string; now: Known; aim: string }>({ of: '', now: nothing, aim: '' });

/** The id of the project that the run bar is about: of the run that is shown, the chosen one, or the bar's own choice. */
export const aimed = () => projects.shown || projects.current || known.aim;

/** That project; where none is named, that of the latest run, else the first whose folder is known. */
export function projectInUse() {
  const all = projects.all.filter((project) => project.path.startsWith('/'));
  const wanted = aimed();
  return all.find((project) => project.id === wanted) ?? (wanted ? undefined : (all.find((project) => project.id === known.now.last?.project) ?? all[0]));
}

/** By the project's files, which are for the owner; a folder that is gone names nothing. */
async function namedByFiles(project: string): Promise<ProjectTargets> {
  const none: ProjectTargets = { targets: [], run_configurations: [] };
  if (!project || !isOwner()) return none;
  return get<ProjectTargets>(`api/v1/projects/${encodeURIComponent(project)}/targets`).catch(() => none);
}

export async function loadKnown(): Promise<void> {
  const project = aimed();
  // Of several questions under way, the answer to the last one counts.
  known.of = project;
  const { runs } = await send<RunPage>('POST', 'api/v1/runs/search', { limit: 200, ...(project ? { project } : {}) });
  if (known.of !== project) return;
  const mine = project ? runs : runs.filter((run) => run.project === runs[0]?.project);
  const distinct = (words: string[]) => [...new Set(words.filter(Boolean))];
  const newest = mine[0];
  // The list does not say with which inputs it ran.
  const [files, last] = await Promise.all([namedByFiles(project || (newest?.project ?? '')), newest ? get<Run>(`api/v1/runs/${newest.run_id}`).catch(() => newest) : null]);
  if (known.of !== project) return;
  const types = new Map([...mine.map((run): [string, string] => [run.target, run.target_type]), ...files.targets.map((one): [string, string] => [one.name, one.type ?? 'unknown'])]);
  known.now = {
    configurations: distinct([...mine.map((run) => run.run_configuration), 'local', ...files.run_configurations]),
    scripts: distinct(mine.map((run) => run.script_name).filter((name) => !name.startsWith('('))),
    targets: distinct(['local', ...mine.map((run) => run.target), ...files.targets.map((one) => one.name)]).map((name) => ({ name, type: types.get(name) ?? 'local' })),
    last,
  };
}
