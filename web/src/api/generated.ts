// SPDX-License-Identifier: Apache-2.0
// Made by build/types.mjs from docs/api/openapi.json: change that, then run `node build/types.mjs`.

export interface Problem {
  kind: ErrorKind;
  message: string;
  /** The next step, or empty. */
  hint: string;
}
export type ErrorKind = 'invalid_argument' | 'not_found' | 'conflict' | 'unavailable' | 'unreachable' | 'timeout' | 'cancelled' | 'damaged' | 'internal';
export interface ErrorAnswer {
  error: Problem;
}
export type State = 'NotStarted' | 'Preparing' | 'Queued' | 'Starting' | 'Running' | 'Finalizing' | 'Completed' | 'Failed' | 'Canceled' | 'Lost';
export type Verdict = 'confirmed' | 'idle' | 'cpu-fallback' | 'lost' | 'unknown' | 'not-requested';
export type Role = 'read' | 'write' | 'promote' | 'administer';
/** The value of a metric. A number that JSON cannot say is the text NaN, Infinity or -Infinity. */
export type Scalar = number | string;
/** The latest value; of a metric that was logged in lists, all its values, or of a long list its length and last value. */
export type MetricValue = Scalar | Scalar[] | { count: number; last: Scalar };
export interface Git {
  commit: string;
  branch: string;
  remote?: string;
  dirty: boolean | null;
}
export interface Substitution {
  line: number;
  from: string;
  /** null: the package is left out. */
  to: string | null;
  why: string;
}
/** What was prepared for a run. Fields that may be absent are so in runs of earlier versions. */
export interface RunEnvironment {
  /** Empty: nothing was prepared beside an image. */
  id: string;
  key: string;
  builder: string;
  /** Why that builder; where nothing was built, why these packages. */
  choice: string;
  /** Why it was built, or that it was there. */
  reason: string;
  /** For this run. */
  built: boolean;
  interpreter: string;
  /** Of the interpreter. */
  version?: string;
  prefix?: string;
  packages?: number;
  lock_digest: string;
  image: string;
  base_image?: string;
  base_digest: string;
  /** Bytes that the container may use; 0: no limit, or no container. */
  memory_limit?: number;
  substitutions?: Substitution[] | null;
}
/** What was seen when the script ended. */
export interface RunEnd {
  by?: string;
  cause?: string;
  signal?: number;
  log_length?: number;
  log_sha256?: string;
  user_ms?: number;
  system_ms?: number;
  max_rss_kib?: number;
  /** Processes that outlived the script and were ended. */
  survivors?: number;
  survivor_commands?: string;
  oom_kills?: number;
  oom_evidence?: string;
  unkillable?: number;
  /** New files beside the outputs, which stayed in the run's copy. */
  left?: { files: number; bytes: number };
}
/** Milliseconds of each phase. */
export interface Timings {
  snapshot?: number;
  materialise?: number;
  prepare?: number;
  queue?: number;
  start?: number;
  run?: number;
  collect?: number;
}
export interface Gpu {
  uuid: string;
  index: number;
  name: string;
  vendor: string;
  compute_capability: string;
  clock_mhz: number;
  pci_bus_id: string;
  /** Bytes. */
  memory_total: number;
  memory_free: number;
  /** Of an instance: the card that it is part of. */
  card?: string;
  /** Devices that a program needs. */
  nodes: string[];
  power_limit_watts?: number;
}
/** What one GPU did for a run; docs/design/gpu.md, "Verdict". */
export interface GpuWork {
  uuid: string;
  name: string;
  samples: number;
  /** Bytes, by processes of the run. */
  memory_peak: number;
  held_seconds: number;
  measured_seconds: number;
  worked_seconds: number;
  activity_mean: number;
  utilisation_peak: number;
  pids: number[];
  /** Others computed there, too. */
  shared: boolean;
  activity_from: string;
  sm_activity_mean?: number;
  energy_joules?: number;
  not_counted_seconds?: number;
  unattributed_seconds?: number;
  unattributed_memory?: number;
  xids?: number[];
  lost?: string;
}
export interface GpuMeasurement {
  samples: number;
  failures: number;
  seconds: number;
  devices: GpuWork[];
  findings: string[];
  unmeasured?: string;
  remains?: string;
}
export interface GpuEvidence {
  phase: 'queued' | 'leased' | 'ended';
  position?: number;
  waiting?: string[];
  requested?: string;
  required?: boolean;
  driver_version?: string;
  cuda_version?: string;
  way?: string;
  queue_ms?: number;
  devices?: Gpu[];
  container?: { way: string; reason: string; warnings?: string[] };
  /** One sentence with the figures. */
  reason?: string;
  evidence?: GpuMeasurement;
  /** Why the run was ended, because it requires a GPU. */
  enforced?: string;
  lease_problem?: string;
}
export interface ChildRun {
  run_id: string;
  name: string;
  status: State;
}
/** A run; docs/design/api.md, "A run". Each metric is also a field of the run itself, unless the run has a field of that name. */
export interface Run {
  run_id: string;
  run_number: number;
  name: string;
  status: State;
  /** 128+n when signal n ended the script. */
  exit_code: number | null;
  /** Why ponk ended it; never the script's own error. */
  error: Problem | null;
  /** Its id. */
  project: string;
  project_path: string;
  script_name: string;
  arguments: string[];
  target: string;
  target_type: string;
  run_configuration: string;
  framework: string;
  user: string;
  host: string;
  created_utc: string | null;
  start_time_utc: string | null;
  end_time_utc: string | null;
  snapshot: string | null;
  outputs: string | null;
  rerun_of: string | null;
  parent: string | null;
  hidden: boolean;
  cancel_requested: boolean;
  params: Record<string, string>;
  tags: Record<string, string>;
  timings: Timings;
  git: Git | null;
  environment: RunEnvironment | null;
  evidence: RunEnd | null;
  gpu_verdict: Verdict | null;
  gpu_evidence: GpuEvidence | null;
  warnings: string[];
  /** The project's name as MLflow's clients see it. */
  experiment: string;
  experiment_id: string;
  duration: string | null;
  duration_ms: number | null;
  metrics: Record<string, MetricValue>;
  deleted_utc?: string;
  imported_utc?: string;
  /** As long as the run's machine cannot be reached. */
  unreachable?: { since: string; reason: string };
  child_runs?: ChildRun[];
  metrics_left_out?: number;
  /** Names of its files, with commas; only where one run is asked for. */
  attachments?: string;
  /** What a rerun needs; only where one run is asked for. Runs of earlier versions have it as that version stored it. */
  configuration?: RunSpec | null;
}
/** What is executed, docs/design/run-spec.md. Fields with their default are absent. */
export interface RunSpec {
  version?: number;
  id?: string;
  name?: string;
  project?: string;
  run_configuration?: string;
  snapshot?: string;
  program?: Program;
  resources?: Resources;
  location?: Location;
  runtime?: Runtime;
  environment?: EnvironmentSpec;
  inputs?: Input[];
  policy?: Policy;
}
export interface Program {
  framework?: string;
  script?: string;
  module?: string;
  folder?: string;
  arguments?: string[];
  command?: string[];
  interpreter?: string;
  spark_options?: string[];
  variables?: Record<string, string>;
  shell_variables?: string[];
  tensorboard?: string;
  given_names?: string[];
  interactive?: boolean;
}
export interface Resources {
  gpu?: GpuRequest;
  time_limit_seconds?: number;
}
export interface GpuRequest {
  gpus?: string;
  origin?: 'usual' | 'asked';
  need?: 'wanted' | 'required';
  busy?: 'wait' | 'refuse';
  grace_seconds?: number;
}
export interface Location {
  kind?: 'here' | 'host';
  target?: string;
  host?: Host;
  /** Then 'kind' is about the login node. */
  slurm?: Slurm | null;
}
export interface Slurm {
  partition?: string;
  account?: string;
  qos?: string;
  gres?: string;
  options?: string[];
}
export interface Host {
  address?: string;
  port?: number;
  user?: string;
  scratch?: string;
  private_key?: string;
}
export interface Runtime {
  container?: Container | null;
  shared_directory?: string;
  named_shared_directory?: string;
}
export interface Container {
  image?: string;
  pinned?: string;
  tree?: 'mounted' | 'copied';
  build_network?: string;
  shm_size?: string;
  arguments?: string[];
  registry_username?: string;
  registry_password?: string;
}
export interface EnvironmentSpec {
  file?: string;
  choice?: string;
  prefix?: string;
  import_folder?: string;
  missing?: 'build' | 'refuse';
  substitutions?: 'none' | 'known';
  lock_digest?: string;
}
export interface Input {
  path?: string;
  source?: string;
  with_digest?: boolean;
  files?: number;
  bytes?: number;
  newest?: number;
  digest?: string;
  tree?: string;
}
export interface Policy {
  purpose?: 'run' | 'prepare';
  tracked?: boolean;
  collect_outputs?: boolean;
  may_promote?: boolean;
  grace_seconds?: number;
  keep?: string[];
}
/** docs/design/api.md, "Submit". null is the same as absent. */
export interface RunRequest {
  /** 32 hex digits, made by the client: the same request again answers the run that is there. */
  run_id: string;
  /** Absolute path of its folder. */
  project: string;
  folder?: string;
  script?: string | null;
  module?: string;
  command?: string[];
  /** Of the project's MLproject file. */
  entry_point?: string;
  parameters?: Record<string, string>;
  arguments?: string[];
  run_configuration?: string;
  target?: string;
  python?: string;
  conda_dependencies?: string;
  spark_dependencies?: string;
  name?: string;
  tags?: Record<string, string>;
  variables?: Record<string, string>;
  tracked?: boolean | null;
  time_limit_seconds?: number | null;
  grace_seconds?: number | null;
  substitute?: boolean;
  allow?: string[];
  tensorboard?: string;
  gpus?: string | null;
  no_wait?: boolean;
  /** PATH or PLACE=PATH. */
  inputs?: string[];
  input_digest?: boolean;
  interactive?: boolean;
  /** The client's own, NAME=VALUE; used and not stored. */
  environment?: string[];
  umask?: number;
}
export interface RunPage {
  runs: Run[];
  /** What continues behind the last of them: `before` of a list, `page` of a search. */
  next: string | null;
}
export interface RunSearch {
  filter?: string;
  order_by?: string[];
  page?: string;
  project?: string;
  limit?: number;
  state?: State;
  script?: string;
  target?: string;
  gpu?: Verdict;
  experiment?: string;
  /** Also hidden runs. */
  hidden?: boolean;
  /** Only deleted runs, or none of them. */
  deleted?: boolean;
  metrics?: string[];
}
export interface RunChange {
  hidden?: boolean;
  deleted?: boolean;
  name?: string;
  /** null removes a tag. */
  tags?: Record<string, string | null>;
}
export interface RunEvent {
  seq: number;
  time: string;
  kind: 'state' | 'progress' | 'notice' | 'metric';
  text: string;
}
export interface Artifact {
  path: string;
  size: number;
  digest: string | null;
  /** Where a link among the outputs points. */
  link: string | null;
}
export interface Link {
  path: string;
  link: string;
}
export interface Artifacts {
  artifacts: Artifact[];
  /** Links that lead out of the outputs. */
  left_out: Link[];
  /** What is damaged and may be missing here. */
  problems: Problem[];
}
export interface SnapshotFile {
  path: string;
  size: number;
  mode: 'file' | 'executable' | 'link';
  digest: string | null;
}
export interface Snapshot {
  id: string;
  files: SnapshotFile[];
  git: Git | null;
}
export interface Package {
  manager: 'conda' | 'pip';
  name: string;
  version: string;
  build?: string;
  source: string;
  direct?: boolean;
  sha256?: string[];
  md5?: string;
}
/** docs/design/environments.md, "lock.json". */
export interface Lock {
  format: number;
  platform: string;
  python: string;
  packages: Package[];
}
export interface Remark {
  severity: 'error' | 'warning' | 'note';
  what: string;
  hint: string;
}
export interface Environment {
  /** null: this one. */
  machine: string | null;
  id: string;
  key: string;
  form: 'prefix' | 'image';
  target: string;
  builder: string;
  choice: string;
  reason: string;
  interpreter: string;
  prefix: string;
  image: string;
  base_image: string;
  lock_digest: string;
  /** What was asked for; docs/design/environments.md, "Key". */
  spec: unknown;
  packages: number;
  size: number;
  in_use: boolean;
  built_utc: string | null;
  last_used_utc: string | null;
}
export interface EnvironmentList {
  environments: Environment[];
  /** Machines that could not be asked. */
  problems: string[];
}
export interface EnvironmentOutlook {
  ready: boolean;
  id: string;
  key: string;
  builder: string;
  choice: string;
  reason: string;
  interpreter: string;
  version: string;
  image: string;
  remarks: Remark[];
  substitutions: Substitution[] | null;
  target: string;
  target_type: string;
  conda_file: string;
  notices: string[];
}
export interface Project {
  id: string;
  name: string;
  path: string;
  runs: number;
  last_run: string | null;
}
export interface Asset {
  name: string;
  version: number;
  run_id: string;
  path: string;
  size: number;
  created_utc: string;
}
export interface ProjectUse {
  id: string;
  name: string;
  path: string;
  runs: number;
  copies_bytes: number;
  records_bytes: number;
}
export interface DiskUse {
  home: string;
  bytes: number;
  free_bytes: number;
  disk_bytes: number;
  parts: { part: string; bytes: number }[];
  projects: ProjectUse[];
}
export interface PruneReport {
  copies: { run_id: string; run_number: number; project: string; project_path: string; end_time_utc: string; files: number; bytes: number }[];
  environments: { id: string; machine: string; last_used_utc: string; bytes: number }[];
  store_bytes: number;
  problems: string[];
}
export interface Tally {
  found: number;
  added: number;
  same: number;
  refused: number;
}
export interface ImportRemark {
  where: string;
  why: string;
  times: number;
}
export interface ImportReport {
  experiments: Tally;
  runs: Tally;
  points: number;
  models: Tally;
  registered_models: Tally;
  files: Tally;
  bytes: number;
  left_out_count: number;
  problem_count: number;
  /** When it is done. */
  left_out?: ImportRemark[];
  problems?: ImportRemark[];
}
export interface Engine {
  name: string;
  version: string;
  api: string;
  architecture: string;
  rootless: boolean;
  live_restore: boolean;
  runtimes: string[];
  socket: string;
}
export interface MachineFacts {
  system: string;
  architecture: string;
  home: string;
  free_disk: number | null;
  python: string | null;
  gpus: { name: string; uuid: string; driver: string; memory: string }[];
  /** null where there is none that serves this user. */
  engine: Engine | null;
  /** The socket of one that does not. */
  closed_engine?: string;
}
export interface TargetCheck {
  target: string;
  type: string;
  address: string;
  reachable: boolean;
  facts: MachineFacts | null;
  problems: Remark[];
}
export interface GpuProcess {
  pid: number;
  memory: number;
  sm_utilisation?: number;
  user: string | null;
  program: string | null;
  run: string | null;
}
export interface GpuSample {
  /** 0 to 1. */
  utilisation?: number;
  sm_activity?: number;
  tensor_activity?: number;
  /** Bytes. */
  memory_used?: number;
  power_watts?: number;
  energy_joules?: number;
  temperature?: number;
  clock_mhz?: number;
  ecc_errors?: number;
  xids?: number[];
  lost?: string;
}
export interface GpuLease {
  user: string;
  run: string;
  pid: number;
  /** Wall-clock milliseconds. */
  since: number;
  present: boolean;
}
export type GpuNow = Gpu & { sample?: GpuSample; processes?: GpuProcess[]; lease?: GpuLease | null };
/** docs/design/gpu.md, "GPUs for people". */
export interface GpuInventory {
  target: string;
  type: string;
  address: string;
  reachable: boolean;
  way?: string;
  driver_version?: string;
  cuda_version?: string;
  time?: number;
  devices: GpuNow[];
  problem?: Problem;
}
export interface TargetRequest {
  /** Absolute path of its folder. */
  project: string;
  target?: string;
  /** The client's own, NAME=VALUE; used and not stored. */
  environment?: string[];
}
export interface Secret {
  name: string;
  where: 'keyring' | 'file';
  updated: string;
  /** Folders whose runs may use it; * is all. */
  projects: string[];
  problem: string | null;
  /** In the answer to PUT: whether logs and metrics hide it; a value of fewer than 4 bytes is not hidden. */
  masked?: boolean;
}
export interface Token {
  name: string;
  role: Role;
  created: string;
  expires: string | null;
  expired: boolean;
}
export interface Session {
  id: string;
  role: Role;
  owner: boolean;
  token: string | null;
  created: string;
  expires: string;
}
export type OwnSession = Session & { prompt: boolean; version: string; server_time: string };
export type OpenSession = Session & { last_used: string | null; peer: string; agent: string; current: boolean };
export type NewSession = Session & { prompt: boolean; session: string };
export interface Daemon {
  version: string;
  api: number;
  pid: number | null;
  home: string | null;
  socket: string | null;
  tracking_uri: string | null;
  serves: string[];
  pinned: boolean;
  started: string;
  sync: 'full' | 'normal';
  active_runs: number;
  waiting_runs: number;
  memory_kib: number;
  store: string;
  notice: string | null;
}
export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  hint: string;
}
export interface Garbage {
  trashed: number;
  deleted: number;
  freed_bytes: number;
  deferred_by: string[];
  unreadable: { snapshot: string; problem: string }[];
  kept: number;
  environments: string[];
  environment_bytes: number;
  problems: string[];
}
export interface Series {
  latest: Scalar;
  count: number;
  points: Point[];
}
/** Step, milliseconds since 1970, value. */
export type Point = [number, number, Scalar];
export interface CurveRequest {
  runs: string[];
  keys: string[];
  x?: 'step' | 'relative' | 'wall';
  from?: number | string | null;
  to?: number | string | null;
  width?: number;
  smooth?: number;
}
export interface ProjectList {
  projects: Project[];
}
export interface TokenList {
  tokens: Token[];
}
export interface SessionList {
  sessions: OpenSession[];
}
export interface SecretList {
  secrets: Secret[];
}
export interface AssetList {
  assets: Asset[];
}
export interface MetricList {
  metrics: Record<string, Series>;
}
export interface LogLines {
  lines: { line: number; begin: number; offset: number }[];
  looked: number;
  cursor: string;
  at_end: boolean;
}
export interface Sample {
  name: string;
  folder: string;
  script: string;
  summary: string;
}
export interface ProjectTargets {
  targets: ({ name: string; type: string | null; problem: string | null })[];
  run_configurations: string[];
}
export interface AttachedTarget {
  name: string;
  type: string;
  /** null: not looked at. */
  ready: boolean | null;
  problems: Remark[];
}
export interface HostKey {
  address: string;
  type: string;
  fingerprint: string;
  /** Whether this machine's files have it already. */
  known: boolean;
}
export interface ViewContent {
  filter?: string;
  /** As in order_by of a search, or empty. */
  order?: string;
  /** What the runs are ordered by before that, or empty. */
  group?: string;
  /** As the page names them: docs/design/views.md. */
  columns?: string[];
  only_differing?: boolean;
}
export interface SavedView {
  name: string;
  /** Its id; empty: of all projects. */
  project: string;
  filter: string;
  order: string;
  group: string;
  columns: string[];
  only_differing: boolean;
  changed: string;
}
export interface SavedViews {
  views: SavedView[];
}
export interface FolderEntry {
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** null: not a file. */
  size: number | null;
  changed: string | null;
  /** Where a link leads. */
  link: string | null;
}
export interface ProjectFolder {
  path: string;
  entries: FolderEntry[];
  /** Entries behind the first 10,000. */
  left_out: number;
}
export interface FileRemark {
  file: string;
  line: number | null;
  column: number | null;
  severity: 'error' | 'warning' | 'notice';
  code: string;
  message: string;
  hint: string;
}
export interface FileCheck {
  /** null: not a configuration file. */
  kind: string | null;
  remarks: FileRemark[];
}
export interface LogTail {
  from: number;
}
export interface NewToken {
  name: string;
  role: Role;
  token: string;
}
export interface SignedAddress {
  /** Relative to the server. */
  address: string;
  expires: string;
}
export type FoundEnvironment = Environment & { lock: Lock };
export interface DoctorReport {
  checks: Check[];
}
/** The JSON in the body of `POST /curves`. */
export interface CurveHead {
  x: 'step' | 'relative' | 'wall';
  /** A whole number. */
  from: string;
  to: string;
  width: number;
  smooth: number;
  curves: CurveColumns[];
}
export interface CurveColumns {
  run: string;
  key: string;
  count: number;
  nonfinite: number;
  rows: number;
  /** Bytes behind the head. */
  at: number;
  columns: ('x' | 'y' | 'smooth')[];
  min: number | null;
  max: number | null;
  last: Scalar | null;
}
export interface LiveAsk {
  /** The first message: the text of a session. */
  hello?: string;
  /** `runs`, or `run/` and the id of a run. */
  watch?: string;
  /** With a run: the last event that is known. */
  after?: number;
  unwatch?: string;
}
export interface LiveHello {
  hello: { session: string; version: string };
}
export interface LiveList {
  subject: "runs";
  /** Counts the messages of this socket, from 1. */
  number: number;
  /** Null: others than these, too, or it is not known which. */
  changed: string[] | null;
  /** Nothing but metrics have changed. */
  only_points: boolean;
}
export interface LiveRun {
  subject: string;
  state: State;
  /** The last event that was told; `after` of the next watch. */
  seq: number;
  events: RunEvent[];
  /** More events may follow at once. */
  more: boolean;
  /** Bytes of the log's file: how much is served may differ. */
  log: number;
  /** Grows when something else of the run has changed. */
  row: number;
  /** Grows when there are more points. */
  points: number;
}
export interface LiveProblem {
  subject: string;
  error: Problem;
}
export interface PromptHello {
  /** The text of a session. */
  hello: string;
  /** The id of a project with a folder on this machine. */
  project: string;
  /** 1 to 1000. */
  columns: number;
  /** 1 to 500. */
  rows: number;
}
/** One of: what is typed; how many bytes were taken; another size. */
export interface PromptAsk {
  input?: string;
  /** Bytes of output that the page has shown, since the beginning. */
  taken?: number;
  columns?: number;
  rows?: number;
}
export interface PromptBegun {
  hello: { session: string; version: string; folder: string; shell: string; python: string | null };
}
export interface PromptOutput {
  /** Bytes of the terminal, in Base64. */
  output: string;
}
export interface PromptEnded {
  ended: { code: number; signal: string | null };
}
export interface LogCheck {
  problem: Problem | null;
}
export type ImportFormat = 'jsonl' | 'csv' | 'mlflow-db' | 'mlflow-files';
