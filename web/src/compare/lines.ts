// SPDX-License-Identifier: Apache-2.0
// Lines that were added and removed between two texts: the shortest script, by Myers' greedy way.

export interface Change {
  kind: ' ' | '+' | '-' | '…';
  text: string;
}
const most = 1500;

export function changesOf(before: string, after: string, context = 3): Change[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const middle = script(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const same = (lines: string[]): Change[] => lines.map((text) => ({ kind: ' ', text }));
  return shortened([...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))], context);
}

function script(a: string[], b: string[]): Change[] {
  const [n, m] = [a.length, b.length];
  const whole = (): Change[] => [...a.map((text): Change => ({ kind: '-', text })), ...b.map((text): Change => ({ kind: '+', text }))];
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= n + m; d++) {
    if (d > most) return whole();
    trace.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1)) ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < n && y < m && a[x] === b[y]) [x, y] = [x + 1, y + 1];
      reach.set(k, x);
      if (x >= n && y >= m) return back(a, b, trace);
    }
    reach = new Map(reach);
  }
  return whole();
}

function back(a: string[], b: string[], trace: Map<number, number>[]): Change[] {
  const out: Change[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const reach = trace[d] ?? new Map<number, number>();
    const k = x - y;
    const from = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1)) ? k + 1 : k - 1;
    const px = d === 0 ? 0 : (reach.get(from) ?? 0);
    const py = d === 0 ? 0 : px - from;
    while (x > px && y > py) {
      [x, y] = [x - 1, y - 1];
      out.push({ kind: ' ', text: a[x] ?? '' });
    }
    if (d > 0) {
      if (x === px) out.push({ kind: '+', text: b[--y] ?? '' });
      else out.push({ kind: '-', text: a[--x] ?? '' });
    }
  }
  return out.reverse();
}

/** Long stretches without a change are left out. */
function shortened(all: Change[], context: number): Change[] {
  const near = new Uint8Array(all.length);
  all.forEach((change, at) => {
    if (change.kind !== ' ') near.fill(1, Math.max(0, at - context), at + context + 1);
  });
  const out: Change[] = [];
  all.forEach((change, at) => {
    if (near[at]) out.push(change);
    else if (out.at(-1)?.kind !== '…') out.push({ kind: '…', text: '' });
  });
  return out;
}
