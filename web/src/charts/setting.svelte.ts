// SPDX-License-Identifier: Apache-2.0
// What all charts of a wall have in common; it is in the address, so a link shows the same picture.
import { amend, place } from '../shell/router.svelte';
import type { Axis, Window } from './curves';

export interface WallSetting {
  axis: Axis;
  smooth: number;
  log: boolean;
  logX: boolean;
  window: Window | null;
}

const asWindow = (text: string | null): Window | null => {
  const found = /^(-?\d+)\.\.(-?\d+)$/.exec(text ?? '');
  return found ? { from: BigInt(found[1] ?? 0), to: BigInt(found[2] ?? 0) } : null;
};

export function wallSetting(): WallSetting {
  const query = place.now.query;
  const axis = query.get('x');
  const smooth = Number(query.get('smooth') ?? 0);
  return {
    axis: axis === 'relative' || axis === 'wall' ? axis : 'step',
    smooth: smooth >= 0 && smooth < 1 ? smooth : 0,
    log: query.get('log') === '1', logX: query.get('logx') === '1', window: asWindow(query.get('window')),
  };
}
export function setWall(change: Partial<WallSetting>): void {
  const words: Record<string, string | undefined> = {};
  if (change.axis !== undefined) [words.x, words.window] = [change.axis === 'step' ? undefined : change.axis, undefined];
  if (change.smooth !== undefined) words.smooth = change.smooth ? String(change.smooth) : undefined;
  if (change.log !== undefined) words.log = change.log ? '1' : undefined;
  if (change.logX !== undefined) words.logx = change.logX ? '1' : undefined;
  if (change.window !== undefined) words.window = change.window ? `${change.window.from}..${change.window.to}` : undefined;
  amend(words);
}
