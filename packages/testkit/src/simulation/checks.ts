/** What is checked after each step of a run, and at its end. */
export const checks = {
  exclusion: 'two nodes for which checkLease() is true at the same instant',
  'validity-outlives-grant': 'a holder for which checkLease() is true after the store has granted the name to another',
  revived: 'checkLease() was true again for a grant for which it had been false',
  'fencing-token': 'a later grant whose fencing token is not larger than those of all earlier ones',
  'wrong-previous': 'a holder with a `previous` that the last holder of the name cannot have left',
  'stale-write': 'the resource accepted a smaller fencing token after a larger one',
  'refused-write': 'the resource refused a write of the valid holder',
  'granted-but-not-held': 'acquire resolved with true, or a run began, and checkLease() was false',
  'callback-twice': 'a loss was told twice',
  'callback-early': 'a loss was told before acquire had resolved',
  'callback-after-release': 'a loss was told after a release was asked for',
  'loss-untold': 'a grant ended without a release, and nobody was told',
  'overlapping-works': 'two works of run at the same time under a valid grant of one name',
  'run-not-told': 'the grant of a run ended, and its signal was not aborted or its promise did not reject',
  'unfreed-run': 'a run ended and left its grant held, which no acquire had asked for',
  'needless-refusal': 'a run was refused because of another of the same lease, and there was none',
  'run-overtaken': 'a run began while one of the same lease that was asked for earlier still waited for its turn',
  'unasked-release': 'the store was asked to free a grant that was neither released by its holder nor lost',
  'needless-loss': 'a lease was lost in a run in which nothing was disturbed, or only code of users misbehaved',
  'wrong-reason': 'a loss was told for a reason that did not happen',
  'late-heartbeat': 'a heartbeat was sent after the end of the validity that it was to renew',
  'shared-call': 'two operations of the store were given the same call at the same time',
  'uncaught-error': 'an error that nobody caught: out of a timer, or of a promise that nobody listened to',
  'unreported-error': 'code of the user threw, and the error was reported neither by an event nor to the logger',
  'two-in-flight': 'two heartbeats of one grant were under way at the same time',
  'heartbeat-after-release': 'a heartbeat was sent after a release was asked for',
  'no-progress': 'nobody was granted the lease within the bound after the faults had stopped',
  'stuck-call': 'a call of acquire or release did not end',
  'stuck-workload': 'a workload did not end within the bound after it was told to',
  'failed-workload': 'a workload rejected: of the default one, with an error that is not a LeaseError',
  'leaked-timer': 'a timer was left behind',
  'leaked-listener': 'a listener was left behind',
  'leaked-request': 'a request was left behind',
  runaway: 'the run did not come to an end: something asks again and again without a pause',
} as const

/** The name of a check. */
export type CheckName = keyof typeof checks

/** What a check found, at an instant of true time in milliseconds. */
export interface Violation {
  readonly check: CheckName
  readonly at: number
  readonly message: string
  /** What a workload rejected with. */
  readonly cause?: unknown
}
