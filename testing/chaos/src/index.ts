export { checkHistory } from './checks/check-history.js'
export {
  type CheckName,
  type CheckOptions,
  checks,
  type Figures,
  type Gap,
  type Report,
  type Violation,
} from './checks/report.js'
export type { AppliedFault, History, Notice } from './history/history.js'
export type {
  Acquire,
  Call,
  Check,
  HandOver,
  Operation,
  Read,
  Release,
  Write,
} from './history/operation.js'
export type { PlannedFault } from './nemesis/planned-fault.js'
export { rivals } from './rivals/rivals.js'
export type { ChaosOptions } from './run/chaos-options.js'
export { checkRun } from './run/check-run.js'
export { keepFailedRun } from './run/failed-run.js'
export { reportOf } from './run/report.js'
export { runChaos } from './run/run-chaos.js'
export { useScratchFolder } from './run/scratch-folder.js'
export { type FailedRun, smallestRun } from './run/smallest-run.js'
export type {
  Connect,
  Connection,
  GuardedRegister,
  RivalConnection,
  RunningSystem,
  System,
  SystemFault,
  SystemScene,
} from './systems/system.js'
export { systems } from './systems/systems.js'
export { drawSvg } from './timeline/draw-svg.js'
export { drawTable } from './timeline/draw-table.js'
