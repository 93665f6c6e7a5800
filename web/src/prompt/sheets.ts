// SPDX-License-Identifier: Apache-2.0
/** Stands where xterm.js has a style element: its text is a sheet of the document, for as long as it is there. */
export function sheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  const place = document.createElement('template');
  Object.defineProperty(place, 'textContent', { set: (text: string) => sheet.replaceSync(text) });
  place.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(place);
  };
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return place;
}
