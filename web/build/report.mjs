// SPDX-License-Identifier: Apache-2.0
// Puts script and styles of the report into one HTML file, which allows these two by their hashes and nothing else:
// no request, no other script. `ponk history export --html` writes data where the mark is.
import { createHash } from 'node:crypto';
import { licences } from './licences.mjs';

const mark = '<!--ponk-data-->';
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** `notices` are comments: whoever passes the file on passes on the licences of the code in it. */
export function documentOf(script, styles, notices) {
  // What HTML would take for the end of the element, or for a comment in it.
  const code = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '\\x3C!--');
  if (styles.includes('</style')) throw new Error('the styles of the report end themselves');
  const policy = `default-src 'none'; script-src ${hash(code)}; style-src ${hash(styles)}; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
${notices.map((text) => `<!--\n${text.replaceAll('--', '- -')}\n-->`).join('\n')}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="ponk">
<title>ponk</title>
<link rel="icon" href="data:,">
<style>${styles}</style>
</head>
<body>
<div id="page"></div>
<noscript>This report needs JavaScript. It makes no request to any server.</noscript>
${mark}
<script>${code}</script>
</body>
</html>
`;
}

/** A plugin of Vite: `report.html` instead of the script and the styles. */
export function oneFile() {
  return {
    name: 'ponk-one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      const parts = Object.values(bundle);
      const scripts = parts.filter((part) => part.type === 'chunk');
      const styles = parts.filter((part) => part.type === 'asset' && part.fileName.endsWith('.css'));
      if (scripts.length !== 1 || styles.length !== 1 || parts.length !== 2) throw new Error(`the report is to be one script and one style sheet, not ${parts.map((part) => part.fileName).join(', ')}`);
      const used = licences().filter(({ name }) => scripts[0].moduleIds.some((id) => id.includes(`/node_modules/${name}/`)));
      const notices = used.map(({ name, version, text }) => `With code of ${name} ${version}:\n\n${text.trim()}`);
      for (const part of parts) delete bundle[part.fileName];
      this.emitFile({ type: 'asset', fileName: 'report.html', source: documentOf(scripts[0].code, String(styles[0].source), notices) });
    },
  };
}
