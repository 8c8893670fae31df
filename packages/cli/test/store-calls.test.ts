import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { grantKeeper } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { expect, it } from 'vitest'
import { StoreCalls } from '../src/run/store-calls.js'

const never = new AbortableCall()
const request = { name: 'x', owner: 'me', grantId: 'a', ttl: 10_000 }

/** The calls to a store whose answers come after `delay` milliseconds, and the events of their claims. */
function scene(delay = 0, changes: object = {}) {
  const clock = new VirtualClock()
  const store: LeaseStore = new MemoryLeaseStore({ clock })
  const acquire: LeaseStore['acquire'] = async (...args) => {
    const outcome = await MemoryLeaseStore.prototype.acquire.apply(store, args)
    if (delay > 0) await new Promise<void>((resolve) => clock.schedule(delay, resolve))
    return outcome
  }
  const events: unknown[] = []
  const listener = {
    refused: (holder: unknown) => void events.push(holder),
    failed: (error: unknown) => void events.push(error),
  }
  return { clock, events, calls: new StoreCalls(Object.assign(store, { acquire }, changes), clock, listener) }
}

it('notify of each claim that was refused, with its holder, and of none that was granted', async () => {
  const { events, calls } = scene()
  await calls.store.acquire(request, never)
  await calls.store.acquire({ ...request, grantId: 'b' }, never)
  expect(events).toEqual([expect.objectContaining({ name: 'x', owner: 'me', grantId: 'a' })])
})

it('notify of a claim that had no answer', async () => {
  const failure = new Error('reset')
  const { events, calls } = scene(0, { acquire: () => Promise.reject(failure) })
  await expect(calls.store.acquire(request, never)).rejects.toBe(failure)
  expect(events).toEqual([failure])
})

it('have ended when the answer has come, and that of the release that followed it', async () => {
  const { clock, calls } = scene(3_000)
  const released = calls.store.acquire(request, never).then(async (outcome) => {
    if (outcome.granted) await calls.store.release(outcome.grant, never)
  })
  let hasEnded = false
  const ended = calls.ended(60_000).then(() => {
    hasEnded = true
  })
  await clock.advance(2_900)
  expect(hasEnded).toBe(false)
  await clock.advance(200)
  await released
  await clock.advance(200)
  await ended
  expect(await calls.store.read('x', never)).toMatchObject({ state: 'available' })
})

it('are not waited for any longer than the limit', async () => {
  const { clock, calls } = scene(60_000)
  void calls.store.acquire(request, never)
  const ended = calls.ended(1_000)
  await clock.advance(1_100)
  await ended
})

it('leave the grants of a heartbeat thread to the thread', () => {
  const keeper = { start: () => undefined, engage: () => {}, keep: () => {} }
  expect(scene(0, { [grantKeeper]: keeper }).calls.store).toMatchObject({ [grantKeeper]: keeper })
  expect(grantKeeper in scene().calls.store).toBe(false)
})
