import assert from 'node:assert/strict'
import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'

/** Asks for a place in the queue, or, when it is that waiter's turn, for the lease. */
async function asks(trial: StoreTrial, client: LeaseStore, waiter: string): Promise<boolean> {
  return (await trial.acquire(client, { grantId: trial.guid(waiter), owner: waiter, queue: true })).granted
}

/** How many wait, as the record says; the same in a listing. */
async function waiters(trial: StoreTrial, client: LeaseStore): Promise<number | undefined> {
  const counted = (await trial.read(client))?.waiters
  for await (const record of client.list?.(trial.name, trial.call) ?? []) assert.equal(record.waiters, counted)
  return counted
}

export const storeWaitingLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('waiting', ['queue'], {
    async 'a request without a place in the queue does not overtake waiters'(trial, holder, client) {
      await asks(trial, client, 'waiter')
      await client.release(holder, trial.call)
      assert.equal((await trial.acquire(client)).granted, false)
      assert.equal(await asks(trial, client, 'waiter'), true)
    },
    async 'the next waiter is granted the name when a waiter withdraws'(trial, holder, client) {
      for (const waiter of ['one', 'two', 'three']) await asks(trial, client, waiter)
      await client.withdraw?.(trial.name, trial.guid('two'), trial.call)
      await client.release(holder, trial.call)
      const next = await trial.granted(client, { grantId: trial.guid('one'), queue: true })
      await client.release(next, trial.call)
      assert.equal(await asks(trial, client, 'three'), true)
    },
    async 'a waiter that has not repeated its request for a ttl is passed over'(trial, holder, client) {
      await asks(trial, client, 'dead')
      await asks(trial, client, 'alive')
      for (let third = 0; third < 3; third += 1) {
        await trial.pass(trial.ttl * 0.4)
        await client.renew(holder, trial.call)
        await asks(trial, client, 'alive')
      }
      await client.release(holder, trial.call)
      assert.equal(await asks(trial, client, 'alive'), true)
    },
    async 'a record says how many wait, if the store counts them'(trial, holder, client) {
      const counts = [await waiters(trial, client)]
      if (counts[0] === undefined) return
      for (const waiter of ['one', 'two', 'one']) {
        await asks(trial, client, waiter)
        counts.push(await waiters(trial, client))
      }
      await client.withdraw?.(trial.name, trial.guid('one'), trial.call)
      counts.push(await waiters(trial, client))
      await client.release(holder, trial.call)
      await asks(trial, client, 'two')
      counts.push(await waiters(trial, client))
      assert.deepEqual(counts, [0, 1, 2, 2, 1, 0])
    },
    async 'a waiter that has not repeated its request for a ttl is not counted'(trial, holder, client) {
      await asks(trial, client, 'dead')
      for (let third = 0; third < 3; third += 1) {
        await trial.pass(trial.ttl * 0.4)
        await client.renew(holder, trial.call)
        await asks(trial, client, 'alive')
      }
      assert.equal((await waiters(trial, client)) ?? 1, 1)
    },
    async 'withdraw without a place in the queue has no effect'(trial, grant, client) {
      await client.withdraw?.(trial.name, trial.guid('absent'), trial.call)
      await client.withdraw?.(`${trial.name}-2`, trial.guid('absent'), trial.call)
      assert.deepEqual(await client.renew(grant, trial.call), { renewed: true })
    },
  }),
  ...storeLawsOf('waiting', ['queue'], {
    async 'waiters are granted the name in the order of their requests'(trial, client) {
      let holder = await trial.granted(client)
      const waiters = ['one', 'two', 'three']
      for (const waiter of waiters) assert.equal(await asks(trial, client, waiter), false)
      for (const [place, waiter] of waiters.entries()) {
        await client.release(holder, trial.call)
        for (const later of waiters.slice(place + 1)) assert.equal(await asks(trial, client, later), false, later)
        holder = await trial.granted(client, { grantId: trial.guid(waiter), queue: true })
      }
    },
  }),
  ...grantedStoreLawsOf('waiting', ['watch'], {
    async 'a watch that stays open yields after each of many releases'(trial, grant, one, other) {
      const watch = new AbortableCall()
      const turns = other.watch?.(trial.name, watch)[Symbol.asyncIterator]()
      assert(turns !== undefined)
      // Spurious turns do no harm: it is woken when the name is free to acquire.
      const freed = async (): Promise<void> => {
        while (!(await turns.next()).done) if ((await trial.read(other))?.state !== 'leased') return
      }
      let held = grant
      try {
        for (let release = 1; release <= RELEASES; release += 1) {
          const woken = freed()
          await trial.pass(trial.ttl / 100)
          await one.release(held, trial.call)
          await comes(trial, woken, `the watch yields after release ${release}`)
          if (release < RELEASES) held = await trial.granted(one)
        }
      } finally {
        watch.abort()
      }
    },
    async 'a watch ends when its call is aborted, and leaves no listener on the call'(trial, _, client) {
      await trial.endsWhenAborted((watch) => client.watch?.(trial.name, watch))
    },
  }),
  ...grantedStoreLawsOf('waiting', ['watch', 'queue'], {
    async 'the watch of each waiter in a queue yields when it is its turn'(trial, grant, client, other) {
      const watch = new AbortableCall()
      const waiters = Array.from({ length: RELEASES }, (_, place) => `waiter ${place + 1}`)
      const turnOf = async (waiter: string): Promise<Grant | undefined> => {
        for await (const _ of other.watch?.(trial.name, watch, trial.guid(waiter)) ?? []) {
          const outcome = await trial.acquire(other, { grantId: trial.guid(waiter), owner: waiter, queue: true })
          if (outcome.granted) return outcome.grant
        }
        return undefined
      }
      try {
        const turns: Promise<Grant | undefined>[] = []
        for (const waiter of waiters) {
          assert.equal(await asks(trial, other, waiter), false)
          turns.push(turnOf(waiter))
        }
        await trial.pass(trial.ttl / 100)
        let holder: Grant | undefined = grant
        for (const [place, turn] of turns.entries()) {
          await client.release(holder, trial.call)
          holder = await comes(trial, turn, `the watch of ${waiters[place]} yields when it is its turn`)
          assert(holder !== undefined)
        }
      } finally {
        watch.abort()
      }
    },
  }),
]

/** Enough releases: a store that drops every third notification drops that of one, though it notifies of grants too. */
const RELEASES = 6

/** Resolves as the promise does; fails where it does not settle before the places of a queue end, which is a signal too. */
async function comes<T>(trial: StoreTrial, promise: Promise<T>, expected: string): Promise<T> {
  return await trial.time
    .until(promise, trial.ttl * 0.9)
    .catch((cause: Error) => assert.fail(`${expected}: ${cause.message}`))
}
