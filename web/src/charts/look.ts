// SPDX-License-Identifier: Apache-2.0
import { lineOf } from '../parts/numbers';
import type { Look } from './draw';

/** The line of each run: its own wherever it is shown; where two of these runs would have the same, the later
 *  one gets the next that is free. */
export function looksOf(runs: string[]): Map<string, Look> {
  const taken = new Set<string>();
  const looks = new Map<string, Look>();
  const name = (look: Look) => look.colour + String(look.dashed);
  for (const run of runs) {
    let look: Look = runs.length === 1 ? { ...lineOf(run), dashed: false } : lineOf(run);
    const first = Number(/\d/.exec(look.colour)?.[0] ?? 1);
    for (let turn = 0; turn < 12 && taken.has(name(look)); turn++) {
      look = { colour: `var(--line${((first + turn) % 6) + 1})`, dashed: look.dashed !== (turn === 6) };
    }
    taken.add(name(look));
    looks.set(run, look);
  }
  return looks;
}

/** A canvas knows no variables of the style sheet. */
export function computed(colour: string, element: Element): string {
  const name = /var\((--[\w-]+)\)/.exec(colour)?.[1];
  return name ? getComputedStyle(element).getPropertyValue(name).trim() : colour;
}
