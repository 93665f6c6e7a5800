// SPDX-License-Identifier: Apache-2.0
const kept = 'ponk.theme';
export type Theme = 'light' | 'dark';

export function startTheme(): void {
  const chosen = localStorage.getItem(kept);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}
export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
/** The other theme; back to the system's own when that is the same. */
export function switchTheme(): void {
  const wanted: Theme = isDark() ? 'light' : 'dark';
  const own: Theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  if (wanted === own) {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(kept);
  } else {
    document.documentElement.dataset.theme = wanted;
    localStorage.setItem(kept, wanted);
  }
  dispatchEvent(new Event('themechange'));
}
