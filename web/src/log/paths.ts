// SPDX-License-Identifier: Apache-2.0
// The run's copy of the project in a log, as the project's own path: a reader opens what a traceback names. As the
// command line does it on a terminal (`project_paths` of src/cli/runs/log_stream.cpp); files and searches keep the bytes.
import type { Run } from '../api/types';

export function projectPaths(run: Run): (text: string) => string {
  if (!run.project_path.startsWith('/')) return (text) => text;
  const project = `${run.project_path.replace(/\/+$/, '')}/`;
  const copies = run.target_type.endsWith('docker') ? /\/azureml-run\//g
    // The folder of the daemon's data is not known here: the path begins where a word does.
    : new RegExp(`(?<![^\\s"'(=:\\[])/(?:[^\\s"'()=]*/)?${['runs', run.run_id, 'work'].join('/')}/`, 'g');
  const mark = run.target_type.endsWith('docker') ? '/azureml-run/' : run.run_id;
  return (text) => (text.includes(mark) ? text.replace(copies, () => project) : text);
}
