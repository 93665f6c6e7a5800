// SPDX-License-Identifier: Apache-2.0
/** The words of a line as a shell would pass them: blanks divide, quotes and backslashes keep together. Null: a quote is open. */
export function wordsOf(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const sign = line.charAt(at);
    if (quote) {
      if (sign === quote) quote = '';
      else if (sign === '\\' && quote === '"' && /["\\]/.test(line.charAt(at + 1))) word += line.charAt(++at);
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= '';
    } else if (sign === '\\' && at + 1 < line.length) word = (word ?? '') + line.charAt(++at);
    else if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + sign;
  }
  if (quote) return null;
  return word === null ? words : [...words, word];
}
export const lineOfWords = (words: string[]) => words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
