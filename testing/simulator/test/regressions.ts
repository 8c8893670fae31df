import type { CheckName, SimulationPlan } from '@leasehold/simulator'
import type { Edit } from '@leasehold/testing/bundle-with-edits'

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
      seed: 7,
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
      seed: 1_995,
      store: 'server-timed',
      machines: [
        { drift: -0.004764310766477138, skew: -2_408_300.574682653 },
        { drift: -0.000534761475864798, skew: -1_220_747.036486864 },
        { drift: -0.00024288166081532815, skew: 3_579_250.518232584 },
      ],
      server: { drift: 0.0011185002210550013, skew: 0 },
      timeouts: {
        heartbeatTimeout: 3_000,
        operationTimeout: 413.05480183102196,
        heartbeatInterval: 693.6562677852287,
        strategy: 'lazy',
      },
      batched: false,
      watched: false,
      cancels: false,
      duration: 36_043.158317450434,
      faults: [
        { kind: 'delay', at: 4_736.57994378342, for: 1_027.3988244007342, longest: 2_063.1907841457464 },
        { kind: 'store-restart', at: 8_074.790026767536, for: 4_560.546398162842 },
        { kind: 'crash', at: 8_392.584050366893, for: 1_293.1536032119766, node: 1 },
        { kind: 'pause', at: 12_985.542747222436, for: 10_906.959168612957, node: 0 },
        { kind: 'store-restart', at: 25_025.756315370603, for: 2_097.1709612058476 },
        { kind: 'store-restart', at: 28_741.762658778476, for: 7_301.395658671958 },
      ],
    },
  },
]
