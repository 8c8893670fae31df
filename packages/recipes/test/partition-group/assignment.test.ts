import { MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { InFlight } from '../../src/in-flight.js'
import { Assignment } from '../../src/partition-group/assignment.js'
import { StoreOutage } from '../../src/store-outage.js'

/** More turns of the microtask queue than a grant takes from the answer of the store to the start of the work. */
const TURNS = 40

/** Gives a claim up so many turns after the store has granted it. Resolves with the number of works that were begun. */
async function giveUpAfter(turns: number): Promise<number> {
  const time = new VirtualTime()
  const clock = new VirtualClock({ time })
  const store = new MemoryLeaseStore({ clock })
  let works = 0
  const { acquire } = store
  const granted = new Promise<void>((resolve) => {
    store.acquire = async (...given) => {
      const answer = await acquire.apply(store, given)
      resolve()
      return answer
    }
  })
  const assignment = new Assignment(0, {
    store,
    name: 'group',
    leaseOptions: { clock },
    clock,
    work: ({ signal }) => {
      works += 1
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    },
    stopTimeout: 1_000,
    interval: 1_000,
    waits: new InFlight(1),
    requests: new InFlight(1),
    claims: new StoreOutage(clock, (line) => expect.unreachable(line)),
    keepAlive: false,
    report: (_, message) => expect.unreachable(message),
    onHeld: () => {},
  })
  await granted
  for (let turn = 0; turn < turns; turn += 1) await undefined
  assignment.giveUp()
  let hasEnded = false
  void assignment.ended.then(() => {
    hasEnded = true
  })
  expect(await time.advanceUntil(() => hasEnded, 60_000), `given up after ${turns} turns`).toBe(true)
  return works
}

describe('a partition at a worker', () => {
  it('ends when it is given up, at whatever moment of the grant', async () => {
    const works: number[] = []
    for (let turns = 0; turns <= TURNS; turns += 1) works.push(await giveUpAfter(turns))
    // Both the first and the last moment are outside of the grant.
    expect([works.at(0), works.at(-1)]).toEqual([0, 1])
  })
})
