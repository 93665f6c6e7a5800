// SPDX-License-Identifier: Apache-2.0
// Keys of the whole page. A view adds its own while it is shown; typing in a field is never taken for a key.

type Handler = (event: KeyboardEvent) => void;
const stack: Record<string, Handler>[] = [];

const isTyping = (target: EventTarget | null | undefined) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && (target as HTMLInputElement).type !== 'checkbox';

/** Keys that count until the returned function is called; the last added win. */
export function addKeys(keys: Record<string, Handler>): () => void {
  stack.push(keys);
  return () => {
    const place = stack.indexOf(keys);
    if (place >= 0) stack.splice(place, 1);
  };
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey || event.metaKey || document.querySelector('dialog[open]')) return;
  const name = (event.ctrlKey ? 'Ctrl-' : '') + event.key;
  // An editor in a shadow tree is the first on the path.
  if (isTyping(event.composedPath()[0] ?? null) && !event.ctrlKey && event.key !== 'Escape') return;
  for (let place = stack.length - 1; place >= 0; place--) {
    const handler = stack[place]?.[name];
    if (!handler) continue;
    event.preventDefault();
    handler(event);
    return;
  }
});
