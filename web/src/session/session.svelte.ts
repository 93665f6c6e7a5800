// SPDX-License-Identifier: Apache-2.0
// Who looks at the page: a session of the daemon, whose token lives as long as the tabs of this address.
import { ApiError, ask, get, onSessionEnded, send, useSession } from '../api/client';
import type { NewSession, OwnSession } from '../api/types';
import { chooseProject } from '../shell/projects.svelte';
import { parsePlace, place } from '../shell/router.svelte';
import { answerTabs, askTabs } from './tabs';

const kept = 'ponk.session';
type Stage = 'starting' | 'login' | 'offline' | 'open';

export const session = $state<{ stage: Stage; ended: boolean; problem: ApiError | null; who: OwnSession | null }>({
  stage: 'starting', ended: false, problem: null, who: null,
});

export const isOwner = () => session.who?.owner === true;
export const mayWrite = () => session.who !== null && session.who.role !== 'read';
export const mayAdminister = () => session.who?.role === 'administer';

const told = (problem: unknown) => (problem instanceof ApiError ? problem : new ApiError('internal', String(problem), '', 0));

async function open(token: string): Promise<void> {
  useSession(token);
  session.who = await get<OwnSession>('api/v1/ui/session');
  session.stage = 'open';
  session.problem = null;
  session.ended = false;
}

/** A code or a token becomes a session; what was wrong with it is in `session.problem`. */
export async function login(how: { code: string } | { token: string }): Promise<void> {
  try {
    const answer = (await (await ask('api/v1/ui/login', { body: how, open: true })).json()) as NewSession;
    sessionStorage.setItem(kept, answer.session);
    await open(answer.session);
  } catch (problem) {
    session.problem = told(problem);
    session.stage = 'login';
  }
}

/** Takes the code out of the address before anything else can see it; the project from which the page was opened is shown first. */
function takeCode(): string | null {
  const found = /^#code=([0-9a-f]+)(?:&project=([^&]*))?(?:&to=(.*))?$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, '', `${location.pathname}${location.search}#${found[3] ?? '/'}`);
  // A replaced address is no event.
  place.now = parsePlace(location.hash);
  if (found[2]) chooseProject(decodeURIComponent(found[2]));
  return found[1] ?? null;
}

export async function start(): Promise<void> {
  onSessionEnded(() => {
    if (session.stage !== 'open') return;
    forget();
    session.ended = true;
  });
  answerTabs(() => (session.stage === 'open' ? sessionStorage.getItem(kept) : null));
  const code = takeCode();
  if (code) return login({ code });
  // Who logged in here meanwhile needs no answer any more.
  const token = sessionStorage.getItem(kept) ?? (await askTabs((late) => { if (session.stage === 'login' && !session.ended) void resume(late); }));
  if (token) return resume(token);
  session.stage = 'login';
}

async function resume(token: string): Promise<void> {
  sessionStorage.setItem(kept, token);
  try {
    await open(token);
  } catch (problem) {
    const error = told(problem);
    if (error.kind === 'offline') {
      session.stage = 'offline';
      return;
    }
    forget();
    session.ended = true;
  }
}

function forget(): void {
  sessionStorage.removeItem(kept);
  useSession(null);
  session.who = null;
  session.stage = 'login';
}

export async function logout(): Promise<void> {
  await send('DELETE', 'api/v1/ui/session').catch(() => undefined);
  forget();
}
