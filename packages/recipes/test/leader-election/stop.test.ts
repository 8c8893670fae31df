import { MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

/** More turns of the microtask queue than a grant takes from the answer of the store to the start of the term. */
const TURNS = 60

/** Stops so many turns after the store has granted the lease. Resolves with the number of terms that had begun by then. */
async function stopAfter(turns: number): Promise<number> {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const { acquire } = store
  const granted = new Promise<void>((resolve) => {
    store.acquire = async (...given) => {
      const answer = await acquire.apply(store, given)
      resolve()
      return answer
    }
  })
  const terms: bigint[] = []
  const election = new LeaderElection(store, { name: 'job', clock, logger: silentLogger, stopTimeout: 1_000 })
  election.on('elected', (term) => terms.push(term))
  election.start()
  await granted
  for (let turn = 0; turn < turns; turn += 1) await undefined
  const before = terms.length
  let isStopped = false
  void election.stop().then(() => {
    isStopped = true
  })
  expect(await clock.time.advanceUntil(() => isStopped, 60_000), `stopped after ${turns} turns`).toBe(true)
  expect(terms.length, `terms after ${turns} turns`).toBe(before)
  return before
}

describe('an election that is stopped', () => {
  it('begins no term after stop(), at whatever moment of the grant', async () => {
    const terms: number[] = []
    for (let turns = 0; turns <= TURNS; turns += 1) terms.push(await stopAfter(turns))
    // Both the first and the last moment are outside of the grant.
    expect([terms.at(0), terms.at(-1)]).toEqual([0, 1])
  })
})
