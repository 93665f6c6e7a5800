// SPDX-License-Identifier: Apache-2.0
// Requests to the daemon. Every address is relative to the document, so the page works below a path prefix.

import type { ErrorAnswer } from './types';

/** What the daemon said, or that it did not answer (`kind` is 'offline' then). */
export class ApiError extends Error {
  constructor(readonly kind: string, message: string, readonly hint: string, readonly status: number) {
    super(message);
  }
}

let secret: string | null = null;
let whenEnded: () => void = () => undefined;
let whenReached: (reached: boolean) => void = () => undefined;
let reached = true;
// A browser has six connections to one server: one stays free for what the reader does next.
const most_at_once = 5;
let under_way = 0;
const waiting: (() => void)[] = [];

export function useSession(token: string | null): void {
  secret = token;
}
export function sessionToken(): string | null {
  return secret;
}
/** Called once for each answer that says that the session has ended. */
export function onSessionEnded(call: () => void): void {
  whenEnded = call;
}
/** Called with false for each call that nobody answered, and with true for the first one behind it that was. */
export function onReached(call: (reached: boolean) => void): void {
  whenReached = call;
}

async function turn(): Promise<void> {
  if (under_way < most_at_once) under_way++;
  else await new Promise<void>((next) => waiting.push(next));
}
function done(): void {
  const next = waiting.shift();
  if (next) next();
  else under_way--;
}

export interface Ask {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Without the session: a login, whose 401 is about what was typed. */
  open?: boolean;
}

/** The response, whatever its body is; fails with what the daemon said. */
export async function ask(path: string, { method, body, signal, open }: Ask = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (secret && !open) headers.Authorization = `Bearer ${secret}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  await turn();
  let response: Response;
  try {
    response = await fetch(path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'), headers, credentials: 'omit', cache: 'no-store',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }), ...(signal ? { signal } : {}),
    });
  } catch (problem) {
    if (signal?.aborted) throw problem;
    whenReached((reached = false));
    throw new ApiError('offline', '', '', 0);
  } finally {
    done();
  }
  if (!reached) whenReached((reached = true));
  if (response.ok) return response;
  if (response.status === 401 && !open) whenEnded();
  const told = (await response.json().catch(() => null)) as Partial<ErrorAnswer> & { error_code?: string; message?: string } | null;
  throw new ApiError(told?.error?.kind ?? told?.error_code ?? 'internal', told?.error?.message ?? told?.message ?? `${response.status} ${response.statusText}`,
    told?.error?.hint ?? '', response.status);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, { signal })).json()) as T;
}
export async function send<T>(method: 'POST' | 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, { method, body, signal });
  const text = await response.text();
  return (text ? JSON.parse(text) : {}) as T;
}
