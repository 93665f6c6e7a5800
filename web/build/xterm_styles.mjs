// SPDX-License-Identifier: Apache-2.0
// xterm.js writes style elements and style attributes, which the page's policy forbids. At build time they become sheets of
// the document (src/prompt/sheets.ts) and properties of elements, which it allows. Another version that has other such
// places stops the build.
import { fileURLToPath } from 'node:url';

const sheets = fileURLToPath(new URL('../src/prompt/sheets.ts', import.meta.url));
const element = /[\w.]+\.createElement\("style"\)/g;
const attribute = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g;
const wanted = { elements: 3, attributes: 1 };

export function xtermStyles() {
  return {
    name: 'xterm-styles',
    transform(code, id) {
      if (!/@xterm\/xterm\/lib\/xterm\.m?js/.test(id)) return null;
      const found = { elements: code.match(element)?.length ?? 0, attributes: code.match(attribute)?.length ?? 0 };
      if (found.elements !== wanted.elements || found.attributes !== wanted.attributes) throw new Error(`xterm.js has other styles than build/xterm_styles.mjs knows: ${JSON.stringify(found)}`);
      const changed = code.replace(element, 'ponkSheetElement()').replace(attribute, '$1.style.cssText+=$2+";"');
      return { code: `import { sheetElement as ponkSheetElement } from ${JSON.stringify(sheets)};\n${changed}`, map: null };
    },
  };
}
