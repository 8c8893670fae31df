import { MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { QueuePlace } from '../src/run/queue-place.js'

const TTL = 30_000
const never = new AbortableCall()

/** A name that is held, and the claims of others, which wait for it. */
async function scene() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const claim = async (grantId: string, queue = true) =>
    await store.acquire({ name: 'x', owner: grantId, grantId, ttl: TTL, queue }, never)
  const withdraw = async (grantId: string) => await store.withdraw('x', grantId, never)
  await claim('holder', false)
  return { clock, store, claim, withdraw, place: new QueuePlace(store, 'x', TTL, clock) }
}

it('is behind those that came before, and not behind those that come later', async () => {
  const { clock, claim, withdraw, place } = await scene()
  expect(place.shown).toBe('')
  for (const id of ['a', 'b', 'mine']) await claim(id)
  place.refused()
  place.look()
  await clock.advance(0)
  expect(place.shown).toBe(', behind at most 2 others')
  for (const id of ['d', 'e']) await claim(id)
  await clock.advance(10_000)
  place.look()
  await clock.advance(0)
  expect(place.shown).toBe(', behind at most 2 others')
  for (const id of ['a', 'd', 'e']) await withdraw(id)
  await clock.advance(10_000)
  place.look()
  await clock.advance(0)
  expect(place.shown).toBe(', behind at most 1 other')
})

it('is next in the queue where nobody else waits', async () => {
  const { clock, claim, place } = await scene()
  await claim('mine')
  place.refused()
  place.look()
  await clock.advance(0)
  expect(place.shown).toBe(', next in the queue')
})

it('is not known after a failure, nor after a pause in which the place was lost', async () => {
  const { clock, claim, place } = await scene()
  await claim('mine')
  place.refused()
  place.look()
  await clock.advance(0)
  place.leave()
  expect(place.shown).toBe('')
  place.refused()
  place.look()
  await clock.advance(0)
  expect(place.shown).toBe(', next in the queue')
  await clock.advance(TTL + 1)
  await claim('holder', false)
  for (const id of ['other', 'mine']) await claim(id)
  place.refused()
  place.look()
  expect(place.shown).toBe('')
  await clock.advance(0)
  expect(place.shown).toBe(', behind at most 1 other')
})

it('reads the record of a store at most every ten seconds', async () => {
  const { clock, store, claim } = await scene()
  let reads = 0
  const counted = Object.assign(Object.create(store), {
    read: async (...args: Parameters<typeof store.read>) => {
      reads += 1
      return await store.read(...args)
    },
  })
  await claim('mine')
  const place = new QueuePlace(counted, 'x', TTL, clock)
  place.refused()
  for (let second = 0; second < 20; second += 1) {
    await clock.advance(1_000)
    place.look()
  }
  expect(reads).toBe(2)
})
