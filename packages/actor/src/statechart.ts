/**
 * The behaviour of a guarded actor as a machine without implementations. Inspectors draw it as the `config` of the actor
 * logic. It is also the source of the diagram in the README, and the tests compare the guarded actor with it.
 */
export const statechart = {
  id: 'leaseGuarded',
  initial: 'acquiringLease',
  states: {
    acquiringLease: {
      entry: 'acquire',
      on: {
        'lease.granted': { target: 'active', guard: 'valid' },
        'lease.failed': { target: 'failed' },
        'lease.refused': { actions: 'waitForRetry' },
        'lease.retry': [{ target: 'active', guard: 'held' }, { actions: 'acquire' }],
        'lease.standby': { actions: 'enterStandby' },
        'lease.lost': [{ actions: 'waitForRetry', guard: 'reacquires' }, { target: 'failed' }],
        'lease.resign': { actions: 'stop' },
        '*': [
          { actions: 'dropOrHandOver', guard: 'onStandby' },
          { target: 'failed', guard: 'overflows' },
          { actions: 'stash' },
        ],
      },
    },
    active: {
      entry: 'startWorker',
      exit: 'stopWorker',
      on: {
        'lease.unstash': [{ actions: 'unstash', guard: 'valid' }, { actions: 'waitForRetry' }],
        'lease.retry': [{ actions: 'unstash', guard: 'valid' }, { actions: 'waitForRetry' }],
        'lease.lost': [{ target: 'acquiringLease', guard: 'reacquires' }, { target: 'failed' }],
        'lease.resign': [{ actions: 'drain', guard: 'drains' }, { actions: 'stop' }],
        'xstate.done.actor.worker': { target: 'done' },
        'xstate.error.actor.worker': { target: 'failed' },
        '*': [
          { actions: 'drop', guard: 'draining' },
          { actions: 'forward', guard: 'validAndNothingStashed' },
          { target: 'failed', guard: 'overflows' },
          { actions: 'stash' },
        ],
      },
    },
    done: { type: 'final', entry: 'release' },
    failed: { type: 'final', entry: 'releaseIfHeld' },
  },
} as const
