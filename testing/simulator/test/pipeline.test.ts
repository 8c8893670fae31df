import { LeaseError } from '@leasehold/core'
import { type SimulatedProcess, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'

const SEEDS = 400

/** The steps of a pipeline: each has a ttl of its own, adopts the lease of the step before, and hands it off to the next. */
async function pipeline(process: SimulatedProcess): Promise<void> {
  const { node, nodes, owner, random, shared, signal, sleep } = process
  const lease = process.createLease('job', 1 + (node % 3))
  const ttl = lease.settings.timeouts.heartbeatTimeout
  while (!signal.aborted) {
    try {
      const offer = process.takeOffer()
      const isAdopted = offer !== undefined && offer.owner === owner && (await lease.adopt(offer))
      if (isAdopted) shared.set('adopted', Number(shared.get('adopted') ?? 0) + 1)
      else if (random.chance(0.3)) await lease.acquire({ wait: ttl / 2 })
      if (lease.checkLease()) {
        process.write(lease).catch(() => {})
        await sleep(ttl * random.magnitude(-6, 0.5))
      }
      const next = (node + 1) % nodes
      if (lease.checkLease()) process.offer(next, await lease.handOff({ owner: process.ownerOf(next) }))
    } catch (error) {
      if (!(error instanceof LeaseError)) throw error
    }
    await sleep(ttl * random.magnitude(-6, -3))
  }
  await lease.release().catch(() => {})
}

describe('a pipeline whose steps have different ttls', () => {
  it.each(['server-timed', 'observed'] as const)(
    '%s: nobody is granted the lease while an adopter is valid',
    {
      timeout: 1_200_000,
    },
    async (store) => {
      let adopted = 0
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        let shared: Map<string, unknown> | undefined
        const workload = (process: SimulatedProcess): Promise<void> => {
          shared = process.shared
          return pipeline(process)
        }
        await simulate({ seed, store, nodes: 3, workload })
        adopted += Number(shared?.get('adopted') ?? 0)
      }
      expect(adopted).toBeGreaterThan(SEEDS)
    },
  )
})
