// SPDX-License-Identifier: Apache-2.0
// Where a log of any size has a text: the daemon looks, from the beginning on, and the page remembers the lines.
import { get } from '../api/client';
import type { LogLines } from '../api/types';

/** Of so many lines the page keeps the places; a text that is in more of them is not worth walking through. */
const most = 200_000;

export class LogSearch {
  /** Where the lines that have it begin. */
  readonly begins: number[] = [];
  looked = 0;
  /** All of the log that was there was looked at. */
  complete = false;
  private cursor = '';

  constructor(readonly run: string, readonly text: string, readonly regex: boolean) {}

  get full(): boolean {
    return this.begins.length >= most;
  }

  /** At most 64 MiB more of the log. */
  async step(signal: AbortSignal): Promise<void> {
    const asked = new URLSearchParams({ q: this.text, cursor: this.cursor, ...(this.regex ? { regex: '1' } : {}) });
    const answer = await get<LogLines>(`api/v1/runs/${this.run}/log/search?${asked.toString()}`, signal);
    for (const { begin } of answer.lines) if (begin > (this.begins.at(-1) ?? -1)) this.begins.push(begin);
    [this.looked, this.cursor, this.complete] = [answer.looked, answer.cursor, answer.at_end];
  }

  /** The number of the next line from there on, in either direction and around the ends; null: there is none. */
  async find(from: number, way: 1 | -1, signal: AbortSignal, told: () => void): Promise<number | null> {
    const after = () => this.begins.findIndex((begin) => begin > from);
    const before = () => this.begins.findLastIndex((begin) => begin < from);
    // What comes before a place is known when all up to it was looked at.
    while (!this.complete && !this.full && (way > 0 ? after() < 0 : this.looked < from || before() < 0)) {
      await this.step(signal);
      told();
    }
    const hit = way > 0 ? after() : before();
    if (hit >= 0) return hit;
    return this.begins.length === 0 ? null : way > 0 ? 0 : this.begins.length - 1;
  }
}
