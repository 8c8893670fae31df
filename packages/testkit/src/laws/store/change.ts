import assert from 'node:assert/strict'
import type { Grant, LeaseStore } from '@leasehold/core'
import type { AcquireOutcome } from '@leasehold/core/store'
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
