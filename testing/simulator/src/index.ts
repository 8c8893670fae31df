export { Random } from '../../../packages/testkit/src/random.js'
export { SimulationError } from '../../../packages/testkit/src/simulation/simulation-error.js'
export { type CheckName, checks, type Violation } from './checks.js'
export type { Actor, HistoryEntry, HistoryEvent } from './history.js'
export type {
  MachinePlan,
  PlannedTimeouts,
  SimulatedStoreKind,
  SimulationOptions,
  SimulationPlan,
} from './plan.js'
export {
  type FaultKind,
  type FaultSpan,
  faultKinds,
  type Misdeed,
  type NonsenseKind,
  nonsenseKinds,
  type PlannedFault,
  type UserPart,
} from './planned-fault.js'
export type { SimulationReport } from './run-plan.js'
export type { SeenBreak, SeenGrant } from './seen-grant.js'
export { simulate } from './simulate.js'
export type { Activity, Scenario, ScenarioView, SimulatedProcess, Workload } from './workload.js'
