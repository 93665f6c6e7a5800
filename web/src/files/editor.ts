// SPDX-License-Identifier: Apache-2.0
// The text editor, fetched when the first text is opened. It lives in a shadow tree: there its styles are
// sheets of their own, which the page's policy allows, where it forbids elements with styles.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, defaultHighlightStyle, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, linter, lintKeymap, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, Text, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { send } from '../api/client';
import { completeFrom } from './completion';
import type { FileRemark } from '../api/types';
import { isChecked, languageOf, schemaOf } from './languages';

export { EditorState, EditorView, Text };

export type Remark = Omit<FileRemark, 'file'>;

const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '6px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--third)', border: 'none' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--sunken)', color: 'var(--text)' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--sunken) 60%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--waiting-soft)' },
  '.cm-searchMatch': { backgroundColor: 'var(--waiting-soft)', outline: '1px solid var(--waiting)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--good-soft)' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)', borderColor: 'var(--line)' },
  '.cm-panels input, .cm-panels button': { font: '12px var(--sans)' },
  '.cm-textfield': { backgroundColor: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '5px', padding: '3px 6px' },
  '.cm-button': { backgroundColor: 'var(--panel)', backgroundImage: 'none', color: 'var(--text)', border: '1px solid var(--line)', borderRadius: '5px' },
  '.cm-panel.cm-search label': { font: '12px var(--sans)' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--strong-line)', borderRadius: '7px', overflow: 'hidden' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '12px', maxHeight: '240px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--accent-text)' },
  '.cm-completionInfo': { maxWidth: '320px', padding: '6px 9px', font: '12px/1.45 var(--sans)', color: 'var(--second)' },
  '.cm-diagnostic': { font: '12px/1.45 var(--sans)', padding: '6px 10px', whiteSpace: 'pre-wrap', maxWidth: '460px' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--failed)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--waiting)' },
  '.cm-diagnostic-info': { borderLeftColor: 'var(--running)' },
  '.cm-lintRange': { backgroundImage: 'none', textDecorationLine: 'underline', textDecorationStyle: 'wavy', textDecorationSkipInk: 'none', textUnderlineOffset: '3px' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--failed)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--waiting)' },
  '.cm-lintRange-info': { textDecorationColor: 'var(--running)' },
  '.cm-lint-marker': { width: '14px', height: '20px', font: '700 12px/20px var(--sans)', textAlign: 'center' },
  '.cm-lint-marker-error': { content: 'normal', color: 'var(--failed)' },
  '.cm-lint-marker-warning': { content: 'normal', color: 'var(--waiting)' },
  '.cm-lint-marker-info': { content: 'normal', color: 'var(--running)' },
  '.cm-lint-marker-error:before': { content: '"✕"' },
  '.cm-lint-marker-warning:before': { content: '"!"' },
  '.cm-lint-marker-info:before': { content: '"i"' },
});
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent-text)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--line5)' },
  { tag: tags.comment, color: 'var(--third)', fontStyle: 'italic' },
  { tag: tags.meta, color: 'var(--third)' },
  { tag: [tags.propertyName, tags.definition(tags.variableName), tags.attributeName], color: 'var(--running)' },
  { tag: [tags.className, tags.typeName, tags.standard(tags.variableName)], color: 'var(--line6)' },
  { tag: tags.heading, color: 'var(--accent-text)', fontWeight: '650' },
  { tag: tags.link, color: 'var(--running)', textDecoration: 'underline' },
  { tag: tags.strong, fontWeight: '650' },
  { tag: tags.emphasis, fontStyle: 'italic' },
]);

/** Where a remark is in a text: the rest of its word, at least one character. Columns count code points. */
function placed(state: EditorState, remark: Remark): Diagnostic {
  const line = state.doc.line(Math.min(Math.max(remark.line ?? 1, 1), state.doc.lines));
  let from = line.from + [...line.text].slice(0, Math.max((remark.column ?? 1) - 1, 0)).join('').length;
  from = Math.min(from, line.to);
  const word = remark.line === null ? '' : (/^[^\s:,#\]}]+/.exec(line.text.slice(from - line.from))?.[0] ?? '');
  return {
    from, to: Math.min(line.to, from + Math.max(word.length, 1)), severity: remark.severity === 'notice' ? 'info' : remark.severity,
    source: remark.code, message: remark.hint ? `${remark.message}\n${remark.hint}` : remark.message,
  };
}

function checked(project: string, path: string, told: (remarks: Remark[]) => void): Extension {
  if (!isChecked(path)) return [];
  let none = false;
  return [linter(async (view) => {
    if (none || view.state.doc.length > 1 << 20) return [];
    const state = view.state;
    try {
      const answer = await send<{ kind: string | null; remarks: Remark[] }>('POST', `api/v1/projects/${encodeURIComponent(project)}/check`, { path, text: state.doc.toString() });
      none = answer.kind === null;
      told(answer.remarks);
      return answer.remarks.map((remark) => placed(state, remark));
    } catch {
      return [];  // what is typed is not lost by it; the next change asks again
    }
  }, { delay: 400 }), lintGutter()];
}

export interface EditorOptions {
  project: string;
  path: string;
  text: string;
  label: string;
  save: (now: Text) => void;
  changed: (state: EditorState) => void;
  remarks: (remarks: Remark[]) => void;
}

/** What files use for a step: what most of their indented lines begin with. */
function unitOf(text: string, path: string): string {
  const found = /^(\t| {2,8})\S/m.exec(text)?.[1];
  return found ?? (/\.(ya?ml|json|compute|runconfig|ipynb)$/i.test(path) ? '  ' : '    ');
}

export function makeState(options: EditorOptions): EditorState {
  const kind = schemaOf(options.path);
  return EditorState.create({
    doc: options.text,
    extensions: [
      lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
      highlightActiveLine(), highlightSelectionMatches(), search({ top: true }), syntaxHighlighting(colours), syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
      EditorState.tabSize.of(4), indentUnit.of(unitOf(options.text, options.path)),
      autocompletion(kind ? { override: [completeFrom(kind)] } : { activateOnTyping: false }),
      keymap.of([
        { key: 'Mod-s', preventDefault: true, run: (view) => { options.save(view.state.doc); return true; } },
        // Tab leaves the text after Escape: who has no mouse gets out.
        ...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab,
      ]),
      languageOf(options.path), checked(options.project, options.path, options.remarks), look,
      EditorView.contentAttributes.of({ 'aria-label': options.label, tabindex: '0', spellcheck: 'false', autocorrect: 'off', autocapitalize: 'off' }),
      EditorView.updateListener.of((update) => { if (update.docChanged) options.changed(update.state); }),
    ],
  });
}

/** An editor in `host`, whose shadow tree it makes once. */
export function openEditor(host: HTMLElement, state: EditorState): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();
  return new EditorView({ state, parent: root, root });
}
