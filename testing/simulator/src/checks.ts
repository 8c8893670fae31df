/** The rules that are checked after each step of a simulation, and at its end. */
export const checks = {
  exclusion: 'two nodes for which checkLease() is true at the same instant',
  'validity-outlives-grant': 'a holder for which checkLease() is true after the store has granted the name to another',
  revived: 'checkLease() was true again for a grant for which it had been false',
  'fencing-token': 'a later grant whose fencing token is not larger than those of all earlier ones',
  'wrong-previous': 'a holder with a `previous` that the last holder of the name cannot have left',
  'stale-write': 'the resource accepted a smaller fencing token after a larger one',
  'refused-write': 'the resource rejected a write of the valid holder',
  'granted-but-not-held': 'acquire resolved with true, or a run began, and checkLease() was false',
  'callback-twice': 'onLost was called twice for one loss',
  'callback-early': 'onLost was called before acquire had resolved',
  'callback-after-release': 'onLost was called after a release was requested',
  'loss-not-notified': 'a grant ended without a release, and onLost was not called',
  'overlapping-works': 'two works of run overlapped under a valid grant of one name',
  'run-not-aborted': 'the grant of a run ended, and its signal was not aborted or its promise did not reject',
  'unfreed-run': 'a run ended and did not free its grant, although no acquire had asked for it',
  'needless-refusal': 'a run was refused because of another run of the same lease, and there was none',
  'run-overtaken': 'a run began before an earlier run of the same lease that was waiting',
  'unasked-release': 'a grant was freed in the store that its holder had neither released nor lost',
  'needless-loss': 'a lease was lost in a simulation without faults, or with faults in user code only',
  'wrong-reason': 'the reason of a loss did not happen',
  'late-heartbeat': 'a heartbeat was sent after the end of validity',
  'shared-call': 'two operations of the store were given the same call at the same time',
  'uncaught-error': 'an uncaught error in a timer, or an unhandled rejection',
  'unreported-error': 'user code threw, and neither an event nor the logger reported the error',
  'two-in-flight': 'two heartbeats of one grant were in flight at the same time',
  'heartbeat-after-release': 'a heartbeat was sent after a release was requested',
  'no-progress': 'no node was granted the lease within the bound after the last fault',
  'stuck-call': 'a call of acquire or release did not end',
  'stuck-workload': 'a workload did not end within the bound after its signal had aborted',
  'broken-rule': 'a rule of the scenario was broken',
  'failed-workload': 'a workload rejected; the default workload handles every LeaseError',
  'leaked-timer': 'a timer was left behind',
  'leaked-listener': 'a listener was left behind',
  'leaked-request': 'a request was left behind',
  runaway: 'the simulation did not end: requests are repeated without a pause',
} as const

/** The name of a check. */
export type CheckName = keyof typeof checks

/** A broken rule, with its instant of true time in milliseconds. */
export interface Violation {
  readonly check: CheckName
  readonly at: number
  readonly message: string
  /** The reason with which a workload rejected. */
  readonly cause?: unknown
}
