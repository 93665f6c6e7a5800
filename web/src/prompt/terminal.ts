// SPDX-License-Identifier: Apache-2.0
// The terminal, fetched when the first prompt is opened: xterm.js in the look of the page. What programs print can change nothing but
// what is seen in it: links do not open, titles and the clipboard are not theirs.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal, type ITheme } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';

export interface Screen {
  /** What it is shown in; may be moved from one place of the page to another. */
  element: HTMLElement;
  size: () => { columns: number; rows: number };
  /** Shows bytes; `shown` when that is done. */
  show: (bytes: Uint8Array, shown: () => void) => void;
  /** As large as its place. */
  fit: () => void;
  focus: () => void;
  /** The language of the page may be another one. */
  name: (text: string) => void;
  /** Nothing is typed any more. */
  freeze: () => void;
  remove: () => void;
}

export interface Heard {
  typed: (text: string) => void;
  sized: (columns: number, rows: number) => void;
  /** Ctrl+M, which is another Enter to programs, leads out of it. */
  left: () => void;
}

/** What the daemon takes. */
const most = { columns: 1000, rows: 500 };
/** Control characters but tab and the ends of lines: brackets around what is pasted could be closed by them. */
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

const variable = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The sixteen colours by the page's own. Whatever programs choose is made readable (minimumContrastRatio). */
function look(): ITheme {
  const [red, green, yellow, blue] = ['--failed', '--good', '--waiting', '--running'].map(variable) as [string, string, string, string];
  const [magenta, cyan, text, second, third, ground] = ['--line5', '--line6', '--text', '--second', '--third', '--panel'].map(variable) as [string, string, string, string, string, string];
  return {
    background: ground, foreground: text, cursor: variable('--accent'), cursorAccent: ground, selectionBackground: variable('--accent-soft'),
    black: text, red, green, yellow, blue, magenta, cyan, white: second,
    brightBlack: third, brightRed: red, brightGreen: green, brightYellow: yellow, brightBlue: blue, brightMagenta: magenta, brightCyan: cyan, brightWhite: text,
    scrollbarSliderBackground: variable('--line'), scrollbarSliderHoverBackground: variable('--strong-line'), scrollbarSliderActiveBackground: variable('--strong-line'),
  };
}

export function openScreen(place: HTMLElement, label: string, heard: Heard): Screen {
  const element = document.createElement('div');
  element.className = 'screen';
  place.append(element);
  const terminal = new Terminal({
    theme: look(), fontFamily: variable('--mono'), fontSize: 13, lineHeight: 1.2, scrollback: 5000, minimumContrastRatio: 4.5,
    screenReaderMode: true, cursorBlink: false, smoothScrollDuration: 0, allowProposedApi: false,
    linkHandler: { activate: () => undefined },
  });
  const fitting = new FitAddon();
  terminal.loadAddon(fitting);
  const fit = () => {
    const room = fitting.proposeDimensions();
    if (room && room.cols > 0 && room.rows > 0) terminal.resize(Math.min(room.cols, most.columns), Math.min(room.rows, most.rows));
  };
  element.addEventListener('paste', (event) => {
    event.preventDefault();
    event.stopPropagation();
    terminal.paste((event.clipboardData?.getData('text/plain') ?? '').replace(controls, ''));
  }, { capture: true });
  terminal.attachCustomKeyEventHandler((event) => {
    const key = event.key.toLowerCase();
    if (!event.ctrlKey || event.altKey || event.metaKey) return true;
    if (key === 'm' && !event.shiftKey) {
      event.preventDefault();
      if (event.type === 'keydown') heard.left();
      return false;
    }
    // Ctrl+C is for programs.
    if (key === 'c' && event.shiftKey) {
      event.preventDefault();
      if (event.type === 'keydown' && terminal.hasSelection()) void navigator.clipboard.writeText(terminal.getSelection());
      return false;
    }
    // The browser pastes.
    return !(key === 'v' && event.shiftKey);
  });
  terminal.onData(heard.typed);
  terminal.onResize(({ cols, rows }) => heard.sized(cols, rows));
  terminal.open(element);
  const name = (text: string) => terminal.textarea?.setAttribute('aria-label', text);
  name(label);
  const redraw = () => { terminal.options.theme = look(); };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  addEventListener('themechange', redraw);
  dark.addEventListener('change', redraw);
  fit();
  return {
    element,
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
    show: (bytes, shown) => terminal.write(bytes, shown),
    fit,
    focus: () => terminal.focus(),
    name,
    freeze: () => { terminal.options.disableStdin = true; },
    remove: () => {
      removeEventListener('themechange', redraw);
      dark.removeEventListener('change', redraw);
      terminal.dispose();
      element.remove();
    },
  };
}
