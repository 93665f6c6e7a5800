// SPDX-License-Identifier: Apache-2.0
// What the daemon answers, by the names of docs/api/openapi.json, and what the page knows about it besides.
import type { Run, State } from './generated';

export type * from './generated';

export const active: readonly State[] = ['NotStarted', 'Preparing', 'Queued', 'Starting', 'Running', 'Finalizing'];
export const isActive = (run: Run) => active.includes(run.status);
/** The note is a tag; clients of MLflow show it, too. */
export const note_tag = 'mlflow.note.content';
