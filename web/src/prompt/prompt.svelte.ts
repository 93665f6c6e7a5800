// SPDX-License-Identifier: Apache-2.0
// The command prompt of this tab: one shell, which goes on while other views are looked at (docs/design/prompt.md).
import { get, sessionToken } from '../api/client';
import type { PromptBegun, PromptEnded, PromptOutput } from '../api/types';
import { session } from '../session/session.svelte';
import type { Screen } from './terminal';

type Stage = 'none' | 'connecting' | 'open' | 'ended' | 'lost' | 'failed' | 'refused' | 'full';

export const prompt = $state<{ stage: Stage; project: string; folder: string; shell: string; code: number; why: string }>({
  stage: 'none', project: '', folder: '', shell: '', code: 0, why: '',
});

/** The codes of docs/design/prompt.md. */
const no_session = 4401;
const no_permission = 4403;
const too_many = 1013;
/** Told by the daemon, with the reason. */
const said = [1008, 1011, 4404];
/** A message of the page has 16 KiB at most, and a character of a text six bytes. */
const piece = 2000;
/** As much is shown before the daemon hears that it was: it stops at four times that. */
const taken_step = 32 * 1024;

let screen: Screen | null = null;
let socket: WebSocket | null = null;
let left: () => void = () => undefined;

const say = (message: object) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
};

/** Half a character is none, and no text of JSON. */
const whole = (text: string) => text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');

function typed(given: string): void {
  if (prompt.stage !== 'open') return;
  const text = whole(given);
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + piece, text.length);
    // Not between the halves of a character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')) end++;
    say({ input: text.slice(at, end) });
    at = end;
  }
}

function hear(mine: WebSocket, on: Screen): void {
  let taken = 0;
  let told = 0;
  mine.onmessage = ({ data }) => {
    if (mine !== socket) return;
    const message = JSON.parse(String(data)) as PromptBegun | PromptOutput | PromptEnded;
    if ('hello' in message) {
      prompt.folder = message.hello.folder;
      prompt.shell = message.hello.shell;
      prompt.stage = 'open';
      on.focus();
    } else if ('output' in message) {
      const bytes = Uint8Array.from(atob(message.output), (one) => one.charCodeAt(0));
      on.show(bytes, () => {
        taken += bytes.length;
        if (taken - told < taken_step || mine !== socket) return;
        told = taken;
        say({ taken });
      });
    } else {
      prompt.code = message.ended.code;
      prompt.stage = 'ended';
      on.freeze();
    }
  };
  mine.onclose = ({ code, reason }) => {
    if (mine !== socket) return;
    socket = null;
    on.freeze();
    if (prompt.stage === 'ended') return;
    prompt.stage = code === no_permission ? 'refused' : code === too_many ? 'full' : said.includes(code) ? 'failed' : 'lost';
    prompt.why = reason;
    // Whether the session has ended is said by any call.
    if (code === no_session) get('api/v1/ui/session').catch(() => undefined);
  };
}

/** Ends what is open, and opens a prompt in a project's folder. */
export async function openPrompt(project: string, place: HTMLElement, label: string): Promise<void> {
  closePrompt();
  Object.assign(prompt, { stage: 'connecting', project, folder: '', shell: '', code: 0, why: '' });
  let terminal: typeof import('./terminal');
  try {
    terminal = await import('./terminal');
  } catch (problem) {
    Object.assign(prompt, { stage: 'lost', why: String(problem) });
    return;
  }
  // Two at once: the later one counts.
  if (prompt.stage !== 'connecting' || prompt.project !== project || screen) return;
  const mine = (screen = terminal.openScreen(place, label, { typed, sized: (columns, rows) => say({ columns, rows }), left: () => left() }));
  const address = new URL('api/v1/ui/prompt', document.baseURI);
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  const connection = (socket = new WebSocket(address));
  connection.onopen = () => connection.send(JSON.stringify({ hello: sessionToken(), project, ...mine.size() }));
  hear(connection, mine);
}

export function closePrompt(): void {
  const mine = socket;
  socket = null;
  mine?.close(1000);
  screen?.remove();
  screen = null;
  prompt.stage = 'none';
}

// What was on the screen is not for the next login.
$effect.root(() => {
  $effect(() => { if (session.who === null) closePrompt(); });
});
// Ctrl+W, which deletes a word in a shell, closes a tab, and the shell with it.
addEventListener('beforeunload', (event) => { if (prompt.stage === 'open') event.preventDefault(); });

/** Shows the terminal in `place`, in which it is until the returned function is called. */
export function showIn(place: HTMLElement, out: () => void): () => void {
  left = out;
  if (screen) {
    place.append(screen.element);
    screen.fit();
    if (prompt.stage === 'open') screen.focus();
  }
  const watch = new ResizeObserver(() => { if (place.clientWidth > 0) screen?.fit(); });
  watch.observe(place);
  return () => {
    watch.disconnect();
    screen?.element.remove();
    left = () => undefined;
  };
}
export const nameScreen = (text: string) => screen?.name(text);
