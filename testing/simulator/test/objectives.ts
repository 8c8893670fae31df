import { createLease, type DurationAdvice, type StoreLease } from '@leasehold/core'
import type { Scenario, ScenarioView, SimulatedProcess } from '@leasehold/simulator'
import { expectLeaseErrors } from '../src/expected-errors.js'
import { findOverlap } from './find-overlap.js'

/** The contended lease with an objective. */
const GUIDED = 'guided'

/** So many other leases of the store learn too: durations are chosen when 30 heartbeats were seen. */
const LEARNERS = 3

/** How often something happened in a run. */
export interface ObjectiveCounts {
  /** The durations changed while the contended lease was held, and before it was granted. */
  changesOfHeld: number
  changes: number
  /** Grants whose ttl is not the one that the lease began with. */
  otherTtls: number
}

export function objectiveCounts(shared: ScenarioView['shared']): ObjectiveCounts {
  if (!shared.has(COUNTS)) {
    ;(shared as Map<string, unknown>).set(COUNTS, { changesOfHeld: 0, changes: 0, otherTtls: 0 })
  }
  return shared.get(COUNTS) as ObjectiveCounts
}

const COUNTS = 'counts'

/** Every process contends for a lease with an objective, and holds others of the same objective that learn with it. */
async function contendByObjective(process: SimulatedProcess): Promise<void> {
  const learners = Array.from({ length: LEARNERS }, (_, number) =>
    createGuided(process, `of node ${process.node}, ${number}`),
  )
  await Promise.all([contend(process), ...learners.map((lease) => keep(process, lease))])
}

function createGuided(process: SimulatedProcess, name: string): StoreLease {
  const { store, leaseOptions, shared } = process
  const { owner, clock, logger, random, heartbeatTimeout = 0 } = leaseOptions
  // Short beside the faults and the run, so that much is learned; all processes have the same.
  if (!shared.has('failover'))
    shared.set('failover', Math.max(process.random.pick([0.25, 0.5, 1]) * heartbeatTimeout, 300))
  const objective = { failover: Number(shared.get('failover')), falseLossesPerYear: 1 }
  return createLease(store, name, { owner, clock, logger, random, objective } as Parameters<typeof createLease>[2])
}

async function contend(process: SimulatedProcess): Promise<void> {
  const { random, signal, sleep, show, shared, clock } = process
  const lease = createGuided(process, GUIDED)
  const counts = objectiveCounts(shared)
  let advice: DurationAdvice | undefined = lease.advice
  const first = advice?.heartbeatTimeout
  lease.on('advised', (news) => {
    if (news.heartbeatTimeout !== advice?.heartbeatTimeout) {
      if (lease.checkLease()) counts.changesOfHeld += 1
      else counts.changes += 1
    }
    advice = news
  })
  lease.on('acquired', () => {
    if (advice?.heartbeatTimeout !== first) counts.otherTtls += 1
  })
  show({
    kind: 'holder',
    get of() {
      return String(lease.fencingToken)
    },
    isActive: () => lease.checkLease(),
  })
  const failover = Number(shared.get('failover'))
  while (!signal.aborted) {
    await expectLeaseErrors(() => lease.acquire({ wait: random.pick([0, failover, 4 * failover]), signal }))
    const until = clock.now() + failover * random.magnitude(-2, 4)
    while (clock.now() < until && !signal.aborted && lease.checkLease()) await sleep(failover / 4)
    // A lease that is held is claimed again, or renewed by hand, while it changes its durations.
    if (random.chance(0.3)) await expectLeaseErrors(() => lease.renew())
    if (random.chance(0.7)) await expectLeaseErrors(() => lease.release())
    await sleep(failover * random.magnitude(-6, 0))
  }
  await expectLeaseErrors(() => lease.release())
}

async function keep({ signal, sleep }: SimulatedProcess, lease: StoreLease): Promise<void> {
  const { heartbeatTimeout } = lease.settings.timeouts
  while (!signal.aborted) {
    await expectLeaseErrors(() => lease.acquire())
    await sleep(heartbeatTimeout)
  }
  await expectLeaseErrors(() => lease.release())
}

/** Leases with an objective, whose ttl and interval change while others contend. */
export const objectiveScenario: Scenario = {
  workload: contendByObjective,
  findFault: (view) => findOverlap(view, GUIDED),
}
