// SPDX-License-Identifier: Apache-2.0
// The address behind '#' is the state of the page: `#/runs?filter=…`. Links are plain links.

export interface Place {
  view: string;
  /** What follows the view: `#/run/ID/log` has ['ID', 'log']. */
  rest: string[];
  query: URLSearchParams;
}

/** MLflow's addresses lead to the same things here. */
function ours(path: string): string {
  const run = /^\/experiments\/[^/]+\/runs\/([^/?]+)/.exec(path);
  if (run) return `/run/${run[1]}`;
  const model = /^\/models\/([^/?]+)/.exec(path);
  if (model) return `/models/${model[1]}`;
  const several = /^\/compare-runs\?(.*)$/.exec(path);
  if (several) {
    try {
      const runs = JSON.parse(new URLSearchParams(several[1]).get('runs') ?? '[]') as unknown;
      if (Array.isArray(runs)) return `/compare?runs=${runs.map(String).join(',')}`;
    } catch {
      return '/runs';
    }
  }
  if (/^\/experiments/.test(path)) return '/runs';
  return path;
}

const decoded = (word: string) => {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
};

export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = ours(hash.replace(/^#/, '') || '/').split('?', 2);
  const [view, ...rest] = path.split('/').filter(Boolean).map(decoded);
  return { view: view ?? 'runs', rest, query: new URLSearchParams(query) };
}

export const place = $state<{ now: Place }>({ now: parsePlace(location.hash) });

addEventListener('hashchange', () => {
  place.now = parsePlace(location.hash);
});

export function addressOf(view: string, rest: string[] = [], query: Record<string, string | undefined> = {}): string {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) words.set(key, value);
  const tail = words.toString();
  return `#/${[view, ...rest].map(encodeURIComponent).join('/')}${tail ? `?${tail}` : ''}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** Other state of the same view: no step for the Back button. */
export function amend(query: Record<string, string | undefined>): void {
  const all = { ...Object.fromEntries(place.now.query), ...query };
  const address = addressOf(place.now.view, place.now.rest, all);
  history.replaceState(null, '', address);
  place.now = parsePlace(address);
}
