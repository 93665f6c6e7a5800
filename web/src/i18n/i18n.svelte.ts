// SPDX-License-Identifier: Apache-2.0
// Texts, numbers and times in the language of the reader. English is always there; the others are fetched.
import { english, type Key } from './english';

type Text = string | Record<string, string>;
type Catalogue = Record<string, Text>;
export type Values = Record<string, string | number>;
export type { Key };

export const languages: Record<string, string> = {
  en: 'English', de: 'Deutsch', fr: 'Français', nl: 'Nederlands', cs: 'Čeština', 'pt-BR': 'Português (Brasil)',
};
const loaders: Record<string, () => Promise<{ default: Catalogue }>> = {
  de: () => import('virtual:catalogue/de'), fr: () => import('virtual:catalogue/fr'), nl: () => import('virtual:catalogue/nl'),
  cs: () => import('virtual:catalogue/cs'), 'pt-BR': () => import('virtual:catalogue/pt-BR'),
};
const remembered = 'ponk.language';
// Longer than its English and with marks around it: shows texts that are cut off or are in no catalogue.
export const pseudo = 'xx';

const current = $state<{ language: string; catalogue: Catalogue }>({ language: 'en', catalogue: english });

function stretched(text: string): string {
  const marks: Record<string, string> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', A: 'Á', E: 'É', I: 'Í', O: 'Ó', U: 'Ú' };
  const changed = text.replace(/\{\w+\}|[aeiouAEIOU]/g, (found) => marks[found] ?? found);
  return `[${changed}${'·'.repeat(Math.ceil(text.length * 0.35))}]`;
}

/** The text of `key`; `n` chooses its plural form, other values fill {places}. */
export function t(key: Key, values: Values = {}): string {
  let text = current.catalogue[key] ?? (english as Catalogue)[key] ?? key;
  if (typeof text !== 'string') {
    const form = new Intl.PluralRules(locale()).select(Number(values.n ?? 0));
    text = text[form] ?? text.other ?? key;
  }
  if (current.language === pseudo) text = stretched(text);
  return text.replace(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name];
    return value === undefined ? place : typeof value === 'number' ? whole(value) : value;
  });
}

export const locale = () => (current.language === pseudo ? 'en' : current.language);
export const language = () => current.language;
export const whole = (value: number) => new Intl.NumberFormat(locale(), { maximumFractionDigits: 0 }).format(value);

export async function setLanguage(wanted: string): Promise<void> {
  const loader = loaders[wanted];
  // Fetched before anything changes: a page that lost its server keeps its language.
  const catalogue = loader ? (await loader()).default : english;
  current.catalogue = catalogue;
  current.language = loader || wanted === pseudo ? wanted : 'en';
  document.documentElement.lang = locale();
  localStorage.setItem(remembered, current.language);
}

/** What was chosen here before, else the first of the browser's languages that we have. */
export async function startLanguage(): Promise<void> {
  const asked = [localStorage.getItem(remembered), ...navigator.languages].filter((word) => word !== null);
  const known = [...Object.keys(languages), pseudo];
  const found = asked.map((word) => known.find((name) => name === word) ?? known.find((name) => name.split('-')[0] === word.split('-')[0]));
  const chosen = found.find((name) => name !== undefined);
  if (chosen && chosen !== 'en') await setLanguage(chosen).catch(() => undefined);
}
