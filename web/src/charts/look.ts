// SPDX-License-Identifier: Apache-2.0
import { lineOf } from '../parts/numbers';
import type { Look } from './draw';

/** Colours that are hard to tell apart on a thin line, also for colour-blind people. */
const near: Record<number, number> = { 1: 5, 5: 1, 2: 4, 4: 2, 3: 6, 6: 3 };
const numberOf = (look: Look) => Number(/\d/.exec(look.colour)?.[0] ?? 1);

/** The line of each run: its own colour, unless an earlier one of these runs has it or one near to it; then the next
 *  that is free. Six runs have six colours, dashes come beyond. */
export function looksOf(runs: string[]): Map<string, Look> {
  const taken = new Set<string>();
  const looks = new Map<string, Look>();
  const name = (look: Look) => look.colour + String(look.dashed);
  const isFree = (look: Look) => !taken.has(name(look));
  for (const run of runs) {
    const first = numberOf({ ...lineOf(run), dashed: false });
    const all = [false, true].flatMap((dashed) => Array.from({ length: 6 }, (_, turn) => ({ colour: `var(--line${((first - 1 + turn) % 6) + 1})`, dashed })));
    const apart = all.find((look) => !look.dashed && isFree(look) && isFree({ colour: `var(--line${near[numberOf(look)] ?? 1})`, dashed: false }));
    const look = apart ?? all.find(isFree) ?? { ...lineOf(run) };
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
