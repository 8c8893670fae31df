import type { Mutant } from './mutant.js'

const engineState = 'engine/engine-state.ts'
const leaseEngine = 'engine/lease-engine.ts'
const storeCaller = 'engine/store-caller.ts'

/** Bugs of the parts around the transitions: timers, callers and calls. */
export const engineMutants: readonly Mutant[] = [
  {
    name: 'a timer for the end of the validity is not set',
    edits: [
      {
        file: engineState,
        find: 'return Math.min(state.validUntil, state.call?.limitAt ?? state.heartbeatAt)',
        replace: 'return state.call?.limitAt ?? state.heartbeatAt',
      },
    ],
    caughtBy: { check: ['loss-not-notified'] },
  },
  {
    name: 'the time limit of a heartbeat has no timer',
    edits: [
      {
        file: engineState,
        find: 'return Math.min(state.validUntil, state.call?.limitAt ?? state.heartbeatAt)',
        replace: 'return Math.min(state.validUntil, state.heartbeatAt)',
      },
    ],
    caughtBy: { check: ['runaway'] },
  },
  {
    name: 'a waiting claim has no timer',
    edits: [
      {
        file: engineState,
        find: 'return state.call?.limitAt ?? state.retryAt',
        replace: 'return state.call?.limitAt ?? Number.POSITIVE_INFINITY',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'of the callers that share a grant, only the first is answered',
    edits: [
      {
        file: leaseEngine,
        find: 'for (const caller of callers) caller.resolve(true)\n',
        replace: 'callers[0]?.resolve(true)\n',
      },
    ],
    caughtBy: { check: ['callback-early'] },
  },
  {
    name: 'the callers that came during a release never get an attempt',
    edits: [
      {
        file: leaseEngine,
        find: "else if (after === 'idle' && before !== 'idle' && !this.#callers.isEmpty) this.#begin()",
        replace: '',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'an attempt does not wait for the leftovers of the last',
    edits: [
      {
        file: leaseEngine,
        find: 'if (this.#cleanup?.isEmpty === false) {',
        replace: 'if (this.#cleanup?.isEmpty === undefined) {',
      },
    ],
    caughtBy: { check: ['failed-workload'] },
  },
  {
    name: 'a late grant is taken back although it is held',
    edits: [
      {
        file: leaseEngine,
        find: "if (state.phase !== 'idle' && state.phase !== 'acquiring' && state.grant.grantId === grant.grantId) return",
        replace: '',
      },
    ],
    caughtBy: { check: ['unasked-release'] },
  },
  {
    name: 'the watch for a turn is never ended',
    edits: [
      {
        file: leaseEngine,
        find: '      this.#stopTurnWatch?.()\n      this.#stopTurnWatch = undefined\n      return',
        replace: '      return',
      },
    ],
    caughtBy: { check: ['leaked-listener'] },
  },
  {
    name: 'a timer is not brought up to date',
    edits: [
      {
        file: leaseEngine,
        find: '    this.#toBeArmed = within\n    this.group.armSoon(this, within)',
        replace: '    this.#toBeArmed = within',
      },
    ],
    caughtBy: { check: ['no-progress'] },
  },
  {
    name: 'the call of an attempt is not ended by its abort',
    edits: [{ file: storeCaller, find: '    call?.abort()\n', replace: '' }],
    caughtBy: { check: ['leaked-request'] },
  },
]
