// SPDX-License-Identifier: Apache-2.0
// The projects, and the one that is looked at: remembered, and '' for all of them.
import { get } from '../api/client';
import type { Project } from '../api/types';
import { counts } from './counts.svelte';

const kept = 'ponk.project';
export const projects = $state<{ all: Project[]; known: boolean; problem: unknown; current: string }>({
  all: [], known: false, problem: null, current: localStorage.getItem(kept) ?? '',
});

export async function loadProjects(): Promise<void> {
  try {
    projects.all = (await get<{ projects: Project[] }>('api/v1/projects')).projects;
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
  void loadProjects();
}
export const currentProject = () => projects.all.find((project) => project.id === projects.current);
