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
