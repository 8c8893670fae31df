import assert from 'node:assert/strict'
import { type Grant, LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial } from '../store-trial.js'
import { changed } from './change.js'

/** Far above what any store reaches by its own clock or counter within a test. */
const FAR = 10n ** 15n

/** Raises the token of a grant that is in force, and returns the grant with its new token. */
async function raised(trial: StoreTrial, client: LeaseStore, grant: Grant, by = FAR): Promise<Grant> {
  const fencingToken = grant.fencingToken + by
  assert.deepEqual(await client.raiseToken?.(grant, fencingToken, trial.call), { renewed: true })
  return { ...grant, fencingToken }
}

export const storeRaisingLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('raising tokens', ['raising'], {
    async 'every client sees the raised token, and later grants have larger ones'(trial, grant, one, other) {
      const { fencingToken } = await raised(trial, one, grant)
      assert.equal((await trial.read(one))?.fencingToken, fencingToken)
      assert.equal((await trial.refused(other))?.fencingToken, fencingToken)
      assert.equal((await trial.read(other))?.fencingToken, fencingToken)
      await one.release({ ...grant, fencingToken }, trial.call)
      let last = fencingToken
      for (const client of [other, one, other]) {
        const next = await trial.granted(client)
        assert(next.fencingToken > last, `${next.fencingToken} after ${last}`)
        assert.equal((await trial.read(client))?.fencingToken, next.fencingToken)
        await client.renew(next, trial.call)
        assert.equal((await trial.read(one))?.fencingToken, next.fencingToken, 'after a heartbeat')
        await client.release(next, trial.call)
        last = next.fencingToken
      }
    },
    async 'a grant after the expiry of a raised one has a larger token'(trial, grant, one, other) {
      const { fencingToken } = await raised(trial, one, grant)
      await trial.expire(other)
      assert((await trial.granted(other)).fencingToken > fencingToken)
    },
    async 'a token that is not larger changes nothing'(trial, grant, client) {
      for (const token of [0n, grant.fencingToken - 1n, grant.fencingToken]) {
        if (token >= 0n) assert.deepEqual(await client.raiseToken?.(grant, token, trial.call), { renewed: true })
        assert.equal((await trial.read(client))?.fencingToken, grant.fencingToken)
      }
    },
    async 'repeated, also with the grant as it was before, succeeds and changes nothing'(trial, grant, one, other) {
      const own = await raised(trial, one, grant)
      assert.deepEqual(await one.raiseToken?.(grant, own.fencingToken, trial.call), { renewed: true })
      assert.deepEqual(await other.raiseToken?.(own, own.fencingToken, trial.call), { renewed: true })
      assert.equal((await trial.read(one))?.fencingToken, own.fencingToken)
    },
    async 'the grant stays in force: it is renewed, repeated with its token, and released'(trial, grant, one, other) {
      const own = await raised(trial, one, grant)
      assert.deepEqual(await one.renew(own, trial.call), { renewed: true })
      const repeated = await trial.acquire(one, { owner: own.owner, grantId: own.grantId })
      assert(repeated.granted)
      assert.equal(repeated.grant.fencingToken, own.fencingToken)
      await trial.refused(other)
      assert.deepEqual(await one.release(own, trial.call), { released: true })
      assert.equal((await trial.granted(other)).fencingToken > own.fencingToken, true)
    },
    async 'restarts the ttl'(trial, grant, one, other) {
      await trial.pass(trial.ttl * 0.6)
      const own = await raised(trial, one, grant)
      await trial.pass(trial.ttl * 0.6)
      await trial.refused(other)
      assert.deepEqual(await one.renew(own, trial.call), { renewed: true })
    },
    async 'a grant that was released or taken cannot be raised'(trial, grant, one, other) {
      await one.release(grant, trial.call)
      const outcome = await one.raiseToken?.(grant, grant.fencingToken + FAR, trial.call)
      assert.equal(outcome?.renewed, false)
      const next = await trial.granted(other)
      assert(next.fencingToken < grant.fencingToken + FAR)
      assert.equal((await one.raiseToken?.(grant, grant.fencingToken + FAR, trial.call))?.renewed, false)
      assert.equal((await trial.read(other))?.fencingToken, next.fencingToken)
    },
    async 'a token that is no bigint, or too large to count on from, is rejected and changes nothing'(
      trial,
      grant,
      client,
    ) {
      for (const token of [2n ** 64n, -1n, 1.5, '7', undefined] as bigint[]) {
        await assert.rejects(
          async () => client.raiseToken?.(grant, token, trial.call),
          (error) => error instanceof LeaseConfigurationError && error.message.includes('fencing token'),
        )
      }
      assert.deepEqual(await client.renew(grant, trial.call), { renewed: true })
      assert.equal((await trial.read(client))?.fencingToken, grant.fencingToken)
    },
  }),
  ...grantedStoreLawsOf('raising tokens', ['raising', 'change'], {
    async 'a lease that is passed on afterwards has a larger token'(trial, grant, client) {
      const own = await raised(trial, client, grant)
      const passed = await changed(trial, client, own)
      assert(passed.fencingToken > own.fencingToken)
    },
  }),
  ...grantedStoreLawsOf('raising tokens', ['raising', 'metadata'], {
    async 'metadata stays, and is still the grant’s own to change'(trial, grant, client) {
      await client.update?.(grant, { step: '1' }, trial.call)
      const own = await raised(trial, client, grant)
      assert.deepEqual((await trial.read(client))?.metadata, { step: '1' })
      assert.deepEqual(await client.update?.(own, { step: '2' }, trial.call), { renewed: true })
      await client.release(own, trial.call, { step: '3' })
      assert.deepEqual((await trial.read(client))?.metadata, { step: '3' })
    },
  }),
  ...grantedStoreLawsOf('raising tokens', ['raising', 'break'], {
    async 'a broken grant cannot be raised, and the grant after a raised one that was broken has a larger token'(
      trial,
      grant,
      one,
      other,
    ) {
      const own = await raised(trial, one, grant)
      await other.break?.(trial.name, { period: 0 }, trial.call)
      assert.equal((await one.raiseToken?.(own, own.fencingToken + FAR, trial.call))?.renewed, false)
      await trial.expire(other)
      const next = await trial.granted(other)
      assert(next.fencingToken > own.fencingToken && next.fencingToken < own.fencingToken + FAR)
    },
  }),
]
