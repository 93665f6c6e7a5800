// SPDX-License-Identifier: Apache-2.0
// Tabs of one browser share a session: a new one asks the others for its token. Only pages of this very address (with its port)
// hear the question, and nothing is left behind when the last of them is closed.
type Words = { ask: true } | { token: string };
const patience_ms = 250;
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('ponk.session') : null;

/** Answers other tabs with what `token` gives, if anything. */
export function answerTabs(token: () => string | null): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<Words>) => {
    const mine = 'ask' in data ? token() : null;
    if (mine) channel.postMessage({ token: mine } satisfies Words);
  });
}

/** The token of a tab that is logged in, or null when none answers in time; an answer behind that goes to `late`. */
export function askTabs(late: (token: string) => void): Promise<string | null> {
  if (!channel) return Promise.resolve(null);
  return new Promise((resolve) => {
    let waiting = true;
    const timer = setTimeout(() => { waiting = false; resolve(null); }, patience_ms);
    function heard({ data }: MessageEvent<Words>): void {
      if (!('token' in data)) return;
      clearTimeout(timer);
      channel?.removeEventListener('message', heard);
      if (waiting) resolve(data.token);
      else late(data.token);
    }
    channel.addEventListener('message', heard);
    channel.postMessage({ ask: true } satisfies Words);
  });
}
