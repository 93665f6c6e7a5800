// SPDX-License-Identifier: Apache-2.0
// What changes while the page is looked at: one WebSocket for this tab (docs/design/live.md). It says what has changed, and the
// views ask for it. Where there is none, say behind a proxy that does not pass it, views ask again and again as before.
import { get, onReached, sessionToken } from './client';
import type { LiveHello, LiveList, LiveProblem, LiveRun } from './types';

export type News = LiveList | LiveRun;
interface Watcher {
  after: (() => number) | undefined;
  hear: (news: News) => void;
  turned: (up: boolean) => void;
}

/** While the socket is up everything is looked at so rarely, should it ever forget to say something. */
const safety_ms = 60_000;
const first_wait_ms = 250;
const longest_wait_ms = 30_000;
/** The codes of docs/design/live.md. */
const no_session = 4401;
const too_many = 1013;

const watchers = new Map<string, Set<Watcher>>();
let socket: WebSocket | null = null;
let up = false;
let refused: string | null = null;
let tries = 0;
let timer = 0;

function turn(to: boolean): void {
  if (up === to) return;
  up = to;
  for (const all of watchers.values()) for (const one of all) one.turned(to);
}

function ask(subject: string): void {
  if (!up || !socket) return;
  const known = [...(watchers.get(subject) ?? [])].flatMap(({ after }) => (after ? [after()] : []));
  socket.send(JSON.stringify({ watch: subject, after: known.length > 0 ? Math.min(...known) : 0 }));
}

function heard(text: string): void {
  const message = JSON.parse(text) as LiveHello | LiveProblem | News;
  if ('hello' in message) {
    tries = 0;
    turn(true);
    for (const subject of watchers.keys()) ask(subject);
  } else if (!('error' in message)) {
    for (const one of [...(watchers.get(message.subject) ?? [])]) one.hear(message);
  }
}

function connect(): void {
  clearTimeout(timer);
  const token = sessionToken();
  if (socket || watchers.size === 0 || !token || token === refused) return;
  const address = new URL('api/v1/ui/live', document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  const mine = (socket = new WebSocket(address));
  mine.onopen = () => mine.send(JSON.stringify({ hello: token }));
  mine.onmessage = ({ data }) => { if (mine === socket) heard(String(data)); };
  mine.onclose = ({ code }) => { if (mine === socket) lost(code, token); };
}

/** Chromium reports the end of one that has not begun as an error of the page. */
function end(mine: WebSocket): void {
  if (mine.readyState === WebSocket.CONNECTING) mine.onopen = () => mine.close(1000);
  else mine.close(1000);
}

function lost(code: number, token: string): void {
  socket = null;
  turn(false);
  if (code === no_session) {
    refused = token;
    // Whether the session has ended is said by any call.
    get('api/v1/ui/session').catch(() => undefined);
    return;
  }
  // Many tabs do not come back in the same moment.
  const wait = code === too_many ? longest_wait_ms : Math.min(longest_wait_ms, first_wait_ms * 2 ** tries++);
  timer = window.setTimeout(connect, wait * (0.5 + Math.random()));
}

function drop(): void {
  const mine = socket;
  if (!mine) return;
  lost(1006, sessionToken() ?? '');
  end(mine);
}
function retry(): void {
  tries = 0;
  connect();
}
// A connection that died without a word is found out by the calls that die with it.
onReached((reached) => (reached ? retry() : drop()));
addEventListener('online', () => { drop(); retry(); });

function watch(subject: string, watcher: Watcher): () => void {
  const all = watchers.get(subject) ?? new Set();
  watchers.set(subject, all.add(watcher));
  connect();
  // Asked again for one more: it knows nothing yet.
  ask(subject);
  return () => {
    all.delete(watcher);
    if (all.size > 0) return;
    watchers.delete(subject);
    if (up) socket?.send(JSON.stringify({ unwatch: subject }));
    if (watchers.size > 0) return;
    clearTimeout(timer);
    const mine = socket;
    socket = null;
    turn(false);
    if (mine) end(mine);
  };
}

/** Whether what changes is heard of; else somebody has to ask. */
export const isLive = (): boolean => up;

export interface Follow<T extends News> {
  /** Looks at it now; fails never. */
  look: () => Promise<void>;
  /** How often to look while there is no socket; null: not any more. */
  interval: () => number | null;
  /** With a run: the last event that is known. */
  after?: () => number;
  /** It was just looked at. */
  looked?: boolean;
  /** Takes what is new, and says how long after the last look the next one may come; null: it needs none. */
  hear: (news: T) => number | null;
}

/** Looks at once, and then whenever there is news, while the page is looked at; until the returned function is called. */
export function follow<T extends News>(subject: string, { look, interval, after, looked, hear }: Follow<T>): () => void {
  let ended = false;
  let looking = false;
  let missed = false;
  let hidden = false;
  // What happened while nobody listened is not known.
  let fresh = true;
  let last = looked ? Date.now() : 0;
  let next = 0;
  let due = Infinity;
  const plan = (at: number) => {
    if (ended || at >= due) return;
    due = at;
    clearTimeout(next);
    next = window.setTimeout(() => void round(), Math.max(0, at - Date.now()));
  };
  const rest = () => {
    const pause = up ? safety_ms : interval();
    if (pause !== null) plan(Date.now() + pause);
  };
  const round = async () => {
    due = Infinity;
    // The look that is under way may have missed what is new: once more behind it.
    if (looking) missed = true;
    else if (document.visibilityState !== 'visible' && last > 0) {
      hidden = true;
      rest();
    } else {
      looking = true;
      last = Date.now();
      await look();
      looking = false;
      if (missed) plan(Date.now());
      missed = false;
      rest();
    }
  };
  const shown = () => {
    if (document.visibilityState !== 'visible' || !hidden) return;
    hidden = false;
    plan(Date.now());
  };
  const leave = watch(subject, {
    after,
    hear: (news) => {
      const pause = hear(news as T);
      if (fresh || pause !== null) plan(Math.max(Date.now(), last + (fresh ? 0 : (pause ?? 0))));
      fresh = false;
    },
    turned: (to) => {
      fresh = true;
      if (!to) rest();
    },
  });
  document.addEventListener('visibilitychange', shown);
  if (looked) rest();
  else void round();
  return () => {
    ended = true;
    clearTimeout(next);
    document.removeEventListener('visibilitychange', shown);
    leave();
  };
}
