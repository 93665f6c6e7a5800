// SPDX-License-Identifier: Apache-2.0
// The runs of one question, page after page as they are scrolled to. What is there changes in place; runs that
// are new are counted, and shown when the reader asks for them.
import { ApiError, get, send } from '../api/client';
import { isActive, type Run, type RunPage } from '../api/types';

export interface Question {
  filter: string;
  order: string;
  group: string;
  project: string;
  hidden: boolean;
}
const page_size = 100;

export class RunList {
  runs = $state.raw<Run[]>([]);
  next = $state<string | null>(null);
  total = $state<number | null>(null);
  fresh = $state(0);
  loading = $state(false);
  known = $state(false);
  problem = $state<unknown>(null);
  took = $state(0);
  #question: Question | null = null;
  #abort = new AbortController();

  #body(question: Question, page?: string) {
    const order = [question.group ? `${question.group} ASC` : '', question.order].filter(Boolean);
    return {
      filter: question.filter, order_by: order, limit: page_size, count: true,
      ...(question.project ? { project: question.project } : {}), ...(question.hidden ? { hidden: true } : {}), ...(page ? { page } : {}),
    };
  }

  /** Asks; the rows of before stay until the answer is there, and when it is an error. */
  async start(question: Question): Promise<void> {
    this.#abort.abort();
    const { signal } = (this.#abort = new AbortController());
    this.#question = question;
    this.loading = true;
    const began = performance.now();
    try {
      const page = await send<RunPage>('POST', 'api/v1/runs/search', this.#body(question), signal);
      this.took = performance.now() - began;
      this.runs = page.runs;
      this.next = page.next || null;
      this.total = this.next ? null : page.runs.length;
      this.fresh = 0;
      this.problem = null;
      this.known = true;
    } catch (problem) {
      if (signal.aborted) return;
      this.problem = problem;
    }
    this.loading = false;
  }

  async more(): Promise<void> {
    const [question, page] = [this.#question, this.next];
    if (!question || !page || this.loading || this.problem) return;
    const { signal } = this.#abort;
    this.loading = true;
    try {
      const answer = await send<RunPage>('POST', 'api/v1/runs/search', this.#body(question, page), signal);
      const there = new Set(this.runs.map((run) => run.run_id));
      this.runs = [...this.runs, ...answer.runs.filter((run) => !there.has(run.run_id))];
      this.next = answer.next || null;
      if (!this.next) this.total = this.runs.length;
    } catch (problem) {
      if (signal.aborted) return;
      this.problem = problem;
    }
    this.loading = false;
  }

  again(): Promise<void> {
    return this.#question ? this.start(this.#question) : Promise.resolve();
  }

  /** Newer states of runs that are shown. */
  merge(newer: Run[]): void {
    const byId = new Map(newer.map((run) => [run.run_id, run]));
    if (!this.runs.some((run) => byId.has(run.run_id))) return;
    this.runs = this.runs.map((run) => byId.get(run.run_id) ?? run);
  }

  /** Asks for the first page again, and for runs that were under way and are not among those now. */
  async look(under_way: Run[]): Promise<void> {
    const question = this.#question;
    if (!question || !this.known || this.loading) return;
    const { signal } = this.#abort;
    try {
      const page = await send<RunPage>('POST', 'api/v1/runs/search', this.#body(question), signal);
      if (signal.aborted) return;
      const there = new Set(this.runs.map((run) => run.run_id));
      this.fresh = page.runs.filter((run) => !there.has(run.run_id)).length;
      const now = new Set([...page.runs, ...under_way].map((run) => run.run_id));
      const ended = this.runs.filter((run) => isActive(run) && !now.has(run.run_id)).slice(0, 20);
      const asked = await Promise.all(ended.map((run) => get<Run>(`api/v1/runs/${run.run_id}`, signal).catch(() => run)));
      this.merge([...page.runs, ...asked]);
      if (this.problem instanceof ApiError && this.problem.kind === 'offline') this.problem = null;
      // An empty list has no place to keep.
      if (there.size === 0 && page.runs.length > 0) await this.again();
    } catch (problem) {
      if (!signal.aborted && problem instanceof ApiError && problem.kind === 'offline') this.problem = problem;
    }
  }

  remove(ids: Set<string>): void {
    this.runs = this.runs.filter((run) => !ids.has(run.run_id));
    if (this.total !== null) this.total -= ids.size;
  }
}
