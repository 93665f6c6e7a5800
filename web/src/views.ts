// SPDX-License-Identifier: Apache-2.0
// Every view, by the first word of its address. Only what the first load shows is part of it; the others are
// fetched when they are opened. A view without a label is reached by links alone.
import type { Component } from 'svelte';
import Runs from './runs/Runs.svelte';
import type { Key } from './i18n/i18n.svelte';

export interface View {
  name: string;
  label?: Key;
  /** Who may see it; everybody when it is left out. */
  who?: 'owner' | 'administer';
  /** At the end of the navigation. */
  last?: boolean;
  load: () => Promise<{ default: Component }>;
}

export const views: View[] = [
  // The first view is part of the first load.
  { name: 'runs', label: 'nav.runs', load: () => Promise.resolve({ default: Runs }) },
  { name: 'run', load: () => import('./run/Run.svelte') },
  { name: 'compare', load: () => import('./compare/Compare.svelte') },
  { name: 'files', label: 'nav.files', who: 'owner', load: () => import('./files/Files.svelte') },
  { name: 'prompt', label: 'nav.prompt', who: 'owner', load: () => import('./prompt/Prompt.svelte') },
  { name: 'projects', label: 'nav.projects', load: () => import('./projects/Projects.svelte') },
  { name: 'targets', label: 'nav.targets', who: 'owner', load: () => import('./targets/Targets.svelte') },
  { name: 'environments', label: 'nav.environments', load: () => import('./environments/Environments.svelte') },
  { name: 'models', label: 'nav.models', load: () => import('./models/Models.svelte') },
  { name: 'settings', label: 'nav.settings', who: 'owner', load: () => import('./settings/Settings.svelte') },
  { name: 'about', label: 'nav.about', last: true, load: () => import('./about/About.svelte') },
];
