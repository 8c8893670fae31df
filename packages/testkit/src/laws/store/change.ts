import assert from 'node:assert/strict'
import type { Grant, LeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type StoreCall } from '@leasehold/core/store'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'

/** Asks to pass a grant on to the owner `target`. */
export async function change(trial: StoreTrial, client: LeaseStore, grant: Grant): Promise<AcquireOutcome> {
  assert(client.change !== undefined)
  return await client.change(grant, { grantId: trial.guid('target'), owner: 'target' }, trial.call)
}

/** The grant of the owner `target`, to whom a grant in force is passed on. */
export async function changed(trial: StoreTrial, client: LeaseStore, grant: Grant): Promise<Grant> {
  const outcome = await change(trial, client, grant)
  assert(outcome.granted, 'the change of the grant in force was refused')
  return outcome.grant
}

/** The request of a waiter that stays in the queue, if there is one. */
async function asks(trial: StoreTrial, client: LeaseStore, waiter: string): Promise<AcquireOutcome> {
  const queue = client.limits.ordered
  return await trial.acquire(client, { grantId: trial.guid(waiter), owner: waiter, queue })
}

/** Resolves with the grant of a waiter that asks whenever its watch yields; asks at once where there is no watch. */
async function turnOf(trial: StoreTrial, client: LeaseStore, waiter: string, watch: StoreCall): Promise<Grant> {
  for await (const _ of client.watch?.(trial.name, watch, trial.guid(waiter)) ?? []) {
    const outcome = await asks(trial, client, waiter)
    if (outcome.granted) return outcome.grant
  }
  const outcome = await asks(trial, client, waiter)
  assert(outcome.granted, 'the request of the waiter was refused')
  return outcome.grant
}

export const storeChangeLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('change', ['change'], {
    async 'passes the lease on, under a larger token and for a whole ttl'(trial, grant, one, other) {
      await trial.pass(trial.ttl * 0.7)
      const passed = await changed(trial, one, grant)
      assert.equal(passed.owner, 'target')
      assert.equal(passed.grantId, trial.guid('target'))
      assert(passed.fencingToken > grant.fencingToken)
      await trial.pass(trial.ttl * 0.6)
      await trial.refused(other)
      assert.deepEqual(await other.renew(passed, trial.call), { renewed: true })
    },
    async 'ends the grant that was passed on: it is neither renewed nor released'(trial, grant, client) {
      const passed = await changed(trial, client, grant)
      assert.equal((await client.renew(grant, trial.call)).renewed, false)
      assert.equal((await client.release(grant, trial.call)).released, false)
      assert.deepEqual(await client.renew(passed, trial.call), { renewed: true })
    },
    async 'the name is never free in between'(trial, grant, one, other) {
      const [passed, claimed] = await Promise.allSettled([changed(trial, one, grant), trial.acquire(other)])
      assert(passed.status === 'fulfilled')
      assert(claimed.status === 'rejected' || !claimed.value.granted, 'granted while the lease was passed on')
    },
    async 'repeated for the same target has the same token'(trial, grant, client) {
      assert.deepEqual(await changed(trial, client, grant), await changed(trial, client, grant))
    },
  }),
  // A store over several servers may ask under other ids than those that its waiters know; it cannot list either.
  ...grantedStoreLawsOf('change', ['change', 'list'], {
    async 'to the grant id of a waiter grants it to the waiter, wakes it, and ends its place'(
      trial,
      grant,
      one,
      other,
    ) {
      assert.equal((await asks(trial, other, 'waiter')).granted, false)
      assert.equal((await asks(trial, other, 'next')).granted, false)
      const watch = new AbortableCall()
      const change = () => one.change?.(grant, { grantId: trial.guid('waiter'), owner: 'waiter' }, trial.call)
      try {
        const turn = one.watch === undefined ? undefined : turnOf(trial, other, 'waiter', watch)
        await trial.pass(trial.ttl / 100)
        const passed = await change()
        assert(passed?.granted)
        assert(passed.grant.fencingToken > grant.fencingToken)
        const held = await (turn === undefined
          ? turnOf(trial, other, 'waiter', watch)
          : trial.time
              .until(turn, trial.ttl * 0.9)
              .catch((cause: Error) => assert.fail(`the waiter is woken by the change: ${cause.message}`)))
        assert.equal(held.fencingToken, passed.grant.fencingToken)
        assert.equal((await trial.read(one))?.owner, 'waiter')
        await other.release(held, trial.call)
        if (other.limits.ordered)
          assert((await asks(trial, other, 'next')).granted, 'the place of the waiter is left over')
      } finally {
        watch.abort()
      }
    },
  }),
  ...grantedStoreLawsOf('change', ['change'], {
    async 'of an expired grant is refused'(trial, grant, client) {
      await trial.expire(client)
      assert.deepEqual(await change(trial, client, grant), { granted: false })
    },
    async 'of a released grant is refused'(trial, grant, client) {
      await client.release(grant, trial.call)
      assert.deepEqual(await change(trial, client, grant), { granted: false })
    },
  }),
  ...storeLawsOf('change', ['change'], {
    async 'of a grant that is not in force is refused, with the holder'(trial, client) {
      const grant = await trial.granted(client, { owner: 'holder' })
      const outcome = await change(trial, client, { ...grant, grantId: trial.guid('forged') })
      assert(!outcome.granted)
      assert.equal(outcome.holder?.owner, 'holder')
      assert.deepEqual(await client.renew(grant, trial.call), { renewed: true })
    },
  }),
  ...grantedStoreLawsOf('change', ['change', 'break'], {
    async 'of a lease that is being broken is refused'(trial, grant, client) {
      await client.break?.(trial.name, {}, trial.call)
      assert.equal((await change(trial, client, grant)).granted, false)
    },
  }),
]
