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
      seed: 6_843,
      store: 'observed',
      machines: [calm, calm, calm, calm],
      server: calm,
      timeouts: {
        heartbeatTimeout: 1_000,
        operationTimeout: 187.49163632513958,
        heartbeatInterval: 225.00578430981906,
        strategy: 'interval',
      },
      batched: true,
      watched: false,
      cancels: true,
      duration: 10_289.246841799468,
      faults: [
        { kind: 'store-restart', at: 7_570.658938968885, for: 791.3804547861218 },
        { kind: 'store-restart', at: 7_695.241137285904, for: 813.9833242166787 },
        { kind: 'store-restart', at: 9_019.20306604265, for: 1_270.043775756818 },
      ],
    },
  },
  {
    name: 'a hand-off does not write the ttl of a wrong answer into the record',
    bug: [
      {
        file: 'cas/cas-store.ts',
        find: 'const ttl = isRepeated ? record.ttl : grant.ttl',
        replace: 'const { ttl } = record',
      },
    ],
    check: 'no-progress',
    plan: {
      seed: 5002464,
      store: 'observed',
      batched: true,
      watched: true,
      cancels: false,
      duration: 129275.80733317882,
      machines: [
        { drift: -0.005, skew: -2610958.543047309 },
        { drift: -0.005, skew: 3496643.2482004166 },
      ],
      server: { drift: -0.004725032059941441, skew: 0 },
      timeouts: {
        heartbeatTimeout: 10000,
        operationTimeout: 338.11652061995113,
        heartbeatInterval: 2855.438827623211,
        strategy: 'adaptive',
      },
      faults: [
        { kind: 'loss', at: 62613.10668407577, for: 756.7873717925977, probability: 0.4429035859415307 },
        { kind: 'nonsense', at: 92080.44808016779, for: 1562.7505150041543, node: 1, answer: 'thrown', probability: 1 },
        {
          kind: 'nonsense',
          at: 121151.68677105293,
          for: 1757.5661471346393,
          node: 1,
          answer: 'garbled',
          probability: 1,
        },
      ],
    },
  },
]
