import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { createLease, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { type Fault, FaultyStore, VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'

const PLAIN = ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released', 'waiting'] as const
const TRACED = ['acquire', 'run', 'store'] as const

/** Takes a lease through its life. Returns how often the kind of its store was read afterwards: each message has it. */
async function readsInOneLife(): Promise<number> {
  const clock = new VirtualClock()
  const state = { isDown: false, reads: 0 }
  const plan = (): Fault | undefined => (state.isDown ? { kind: 'fail-before' } : undefined)
  const store: LeaseStore = new FaultyStore(new MemoryLeaseStore({ clock }), { clock, plan })
  Object.defineProperty(store, 'kind', {
    get: () => {
      state.reads += 1
      return 'memory'
    },
  })
  const times = { heartbeatTimeout: 10_000, heartbeatInterval: 2_500, operationTimeout: 1_000 }
  const [lease, other] = ['anna', 'berta'].map((owner) =>
    createLease(store, 'report', { clock, owner, random: () => 0, ...times }),
  ) as [ReturnType<typeof createLease>, ReturnType<typeof createLease>]
  await lease.run(async () => {})
  await lease.acquire()
  // The durations and the kind are read when a lease is made, and with its first claim.
  state.reads = 0
  const waiting = other.acquire({ wait: 60_000 })
  await clock.time.advance(4_000)
  state.isDown = true
  await clock.time.advance(3_000)
  state.isDown = false
  await clock.time.advance(3_000)
  await lease.release()
  await clock.time.advance(100)
  expect(await waiting).toBe(true)
  await other.run(async () => {})
  state.isDown = true
  await clock.time.advance(20_000)
  expect(other.checkLease()).toBe(false)
  return state.reads
}

it('no message is made while nobody listens', async () => {
  expect(await readsInOneLife()).toBe(0)
})

for (const name of PLAIN) {
  it(`messages are made for a subscriber of leasehold:${name}`, async () => {
    const listener = (): void => {}
    subscribe(`leasehold:${name}`, listener)
    try {
      expect(await readsInOneLife()).toBeGreaterThan(0)
    } finally {
      unsubscribe(`leasehold:${name}`, listener)
    }
  })
}

it.each(TRACED)('an operation is traced for a subscriber of leasehold:%s', async (name) => {
  let begun = 0
  const ignore = (): void => {}
  const handlers = {
    start: () => {
      begun += 1
    },
    end: ignore,
    asyncStart: ignore,
    asyncEnd: ignore,
    error: ignore,
  }
  tracingChannel(`leasehold:${name}`).subscribe(handlers)
  try {
    await readsInOneLife()
  } finally {
    tracingChannel(`leasehold:${name}`).unsubscribe(handlers)
  }
  expect(begun).toBeGreaterThan(0)
})
