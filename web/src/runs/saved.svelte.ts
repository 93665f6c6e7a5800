// SPDX-License-Identifier: Apache-2.0
// Views of the table that were saved under a name: on the server, so that every browser and `ponk runs --view` have them.
import { get, send } from '../api/client';
import type { SavedView, SavedViews, ViewContent } from '../api/types';

class Saved {
  views = $state.raw<SavedView[]>([]);
  problem = $state<unknown>(null);
  #project = '';

  #place = (name: string) => `api/v1/views/${encodeURIComponent(name)}?project=${encodeURIComponent(this.#project)}`;

  async load(project: string): Promise<void> {
    if (project !== this.#project) this.views = [];
    this.#project = project;
    await this.#attempt(() => Promise.resolve());
  }
  save(name: string, content: Required<ViewContent>): Promise<boolean> {
    return this.#attempt(() => send('PUT', this.#place(name), content));
  }
  rename(name: string, to: string): Promise<boolean> {
    return this.#attempt(() => send('PATCH', this.#place(name), { name: to }));
  }
  remove(name: string): Promise<boolean> {
    return this.#attempt(() => send('DELETE', this.#place(name)));
  }

  /** Whether it was done; what is there then is asked for again. */
  async #attempt(action: () => Promise<unknown>): Promise<boolean> {
    const project = this.#project;
    try {
      await action();
      const { views } = await get<SavedViews>(`api/v1/views?project=${encodeURIComponent(project)}`);
      if (project === this.#project) this.views = views;
      this.problem = null;
      return true;
    } catch (problem) {
      this.problem = problem;
      return false;
    }
  }
}
export const saved = new Saved();
