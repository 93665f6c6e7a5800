// SPDX-License-Identifier: Apache-2.0
// Modules of Vite that are made from other files: catalogues, licences.
import { catalogueOf, languages } from './catalogues.mjs';
import { licences } from './licences.mjs';

/** A language is one small file, fetched when it is chosen, however many areas its catalogue has. `wanted` says which
 *  of its keys are used. */
export function generated(wanted = () => true) {
  const prefix = 'virtual:';
  return {
    name: 'ponk-generated',
    resolveId: (id) => (id.startsWith(prefix) ? '\0' + id : undefined),
    load(id) {
      if (id === '\0virtual:licences') return `export default ${JSON.stringify(licences())};`;
      const language = languages.find((name) => id === `\0virtual:catalogue/${name}`);
      return language ? `export default ${JSON.stringify(Object.fromEntries(Object.entries(catalogueOf(language)).filter(([key]) => wanted(key))))};` : undefined;
    },
  };
}
