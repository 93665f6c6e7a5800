// SPDX-License-Identifier: Apache-2.0
// How much room there is, where style sheets alone cannot decide.
const watch = (query: string) => {
  const media = matchMedia(query);
  const state = $state({ is: media.matches });
  media.addEventListener('change', () => (state.is = media.matches));
  return state;
};
export const phone = watch('(max-width: 700px)');
export const narrow = watch('(max-width: 1200px)');
