import type { Edit } from '@leasehold/testing/bundle-with-edits'
import type { CheckName, SimulationPlan } from '@leasehold/testkit/simulation'

/** A schedule that a bug was found by, made small; and the bug, to be put back. */
export interface Regression {
  readonly name: string
  readonly bug: readonly Edit[]
  readonly check: CheckName
  readonly plan: SimulationPlan
}

const calm = { drift: 0, skew: 0 }

export const regressions: readonly Regression[] = [
  {
    name: 'the release of a stray grant fails with a LeaseError when the store cannot be reached',
    bug: [{ file: 'engine/timed-call.ts', find: 'throw toLeaseError(rules, method, error)', replace: 'throw error' }],
    check: 'failed-workload',
    plan: {
      seed: 1,
      store: 'server-timed',
      machines: [calm, calm],
      server: calm,
      timeouts: {
        heartbeatTimeout: 10_000,
        operationTimeout: 1_069.3647402105853,
        heartbeatInterval: 2_596.9101555153225,
        strategy: 'adaptive',
      },
      batched: true,
      watched: true,
      cancels: true,
      duration: 53_867,
      faults: [{ kind: 'store-restart', at: 48_449.154534624875, for: 5_417.845465375125 }],
    },
  },
  {
    name: 'a withdrawal from the queue of a store that does not answer is given up',
    bug: [
      {
        file: 'engine/turn-watch.ts',
        find: 'withdraw.call(store, rules.name, grantId, call))',
        replace:
          'withdraw.call(store, rules.name, grantId, { timeout: 1, aborted: false, signal: new AbortController().signal, onAbort: () => () => {} }))',
      },
    ],
    check: 'leaked-request',
    plan: {
      seed: 1,
      store: 'server-timed',
      machines: [calm, calm],
      server: calm,
      timeouts: {
        heartbeatTimeout: 3_000,
        operationTimeout: 478.45844281604514,
        heartbeatInterval: 358.79771323685526,
        strategy: 'adaptive',
      },
      batched: true,
      watched: true,
      cancels: true,
      duration: 13_014,
      faults: [
        { kind: 'fading', at: 7_577.926615920796, for: 5_127.282410860062, node: 1, longest: 2_642.642832723992 },
      ],
    },
  },
  {
    name: 'the release of a stray grant is not retried after the grant has expired',
    bug: [{ file: 'engine/grant-cleanup.ts', find: 'LONGEST / 10, left)', replace: 'LONGEST / 10)' }],
    check: 'leaked-timer',
    plan: {
      seed: 365,
      store: 'server-timed',
      machines: [
        { drift: 0.005, skew: 755_825.2438902855 },
        { drift: -0.005, skew: -1_667_581.2000408769 },
        { drift: 0.0025934113771654667, skew: -1_170_999.4772449136 },
        { drift: 0.005, skew: -1_319_940.0711804628 },
      ],
      server: { drift: 0.0006098975706845524, skew: 0 },
      timeouts: {
        heartbeatTimeout: 1_000,
        operationTimeout: 128.75635999953374,
        heartbeatInterval: 152.30859285905677,
        strategy: 'interval',
      },
      maxHold: 3_715.379809960723,
      batched: false,
      watched: true,
      cancels: true,
      duration: 11_319.95008001104,
      faults: [
        { kind: 'store-restart', at: 365.5635743375815, for: 278.84812327101827 },
        { kind: 'store-restart', at: 3_366.010693886945, for: 606.810380006209 },
        { kind: 'store-restart', at: 5_353.795448228035, for: 228.04014242137782 },
        { kind: 'store-restart', at: 8_291.885052847938, for: 630.560333840549 },
        { kind: 'store-restart', at: 9_967.619475918564, for: 987.5028881942853 },
        { kind: 'store-restart', at: 10_990.170400172678, for: 329.7796798383624 },
      ],
    },
  },
]
