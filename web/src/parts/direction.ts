// SPDX-License-Identifier: Apache-2.0
// What a better value of a metric is, by its name: as `better_of` of src/model/metric_direction.cpp has it.
import { higher, lower } from './metric_words';

/** Whether less is better (-1), more (1), or nobody knows (0). */
export function better(name: string): -1 | 0 | 1 {
  const words = name.replace(/([a-z])(?=[A-Z])/g, '$1 ').toLowerCase().split(/[^a-z0-9]+/).filter(Boolean);
  const down = words.some((word) => lower.has(word) || word.endsWith('loss'));
  const up = words.some((word) => higher.has(word) || word.endsWith('acc') || word.endsWith('accuracy'));
  if (down === up) return 0;
  const turned = words.includes('neg') || words.includes('negative');
  return down !== turned ? -1 : 1;
}
