// SPDX-License-Identifier: Apache-2.0
// The projects, and the one that is looked at: remembered, and '' for all of them.
import { get } from '../api/client';
import type { Project, ProjectList } from '../api/types';
import { counts } from './counts.svelte';

const kept = 'ponk.project';
/** `shown`: the project of the run that is looked at. */
export const projects = $state<{ all: Project[]; known: boolean; problem: unknown; current: string; shown: string }>({
  all: [], known: false, problem: null, current: localStorage.getItem(kept) ?? '', shown: '',
});

export async function loadProjects(): Promise<void> {
  try {
    projects.all = (await get<ProjectList>('api/v1/projects')).projects;
    projects.problem = null;
    projects.known = true;
    if (projects.current && !projects.all.some((project) => project.id === projects.current)) projects.current = '';
    counts.projects = projects.all.length;
    counts.runs = projects.all.reduce((sum, project) => sum + (projects.current && project.id !== projects.current ? 0 : project.runs), 0);
  } catch (problem) {
    projects.problem = problem;
  }
}
export function chooseProject(id: string): void {
  projects.current = id;
  localStorage.setItem(kept, id);
  // Before the login, which loads them, nobody may ask.
  if (projects.known) void loadProjects();
}
/** What people call the project of a run. */
export const projectName = (id: string, path: string) => projects.all.find((project) => project.id === id)?.name ?? path.split('/').at(-1) ?? '';
export const currentProject = () => projects.all.find((project) => project.id === projects.current);
