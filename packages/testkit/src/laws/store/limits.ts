import assert from 'node:assert/strict'
import { LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'

/** Every operation that each store has, by its name. */
function operations(trial: StoreTrial, client: LeaseStore, call: StoreCall): Record<string, () => Promise<unknown>> {
  const { name, ttl } = trial
  const claim = { name, owner: 'owner', grantId: trial.guid('id'), ttl }
  let grant = { ...claim, fencingToken: 1n }
  return {
    acquire: async () => {
      const outcome = await client.acquire(claim, call)
      if (outcome.granted) grant = outcome.grant
    },
    renew: () => client.renew(grant, call),
    release: () => client.release(grant, call),
    read: () => client.read(name, call),
  }
}

export const storeLimitLaws: readonly StoreLaw[] = [
  ...storeLawsOf('limits', [], {
    async 'every operation rejects a call that has aborted before, without effect'(trial, client) {
      const aborted = new AbortableCall()
      aborted.abort(new Error('enough'))
      for (const [operation, run] of Object.entries(operations(trial, client, aborted))) {
        await assert.rejects(run(), `${operation} did not reject`)
      }
      assert.equal(await trial.read(client), undefined)
    },
    async 'metadata with a value that is not a text is rejected, without effect'(trial, client) {
      const { name, ttl, call } = trial
      const metadata = { attempt: 1 } as unknown as Record<string, string>
      const request = { name, owner: 'owner', grantId: trial.guid('id'), ttl, metadata }
      await assert.rejects(client.acquire(request, call), LeaseConfigurationError)
      assert.equal(await trial.read(client), undefined)
    },
    async 'no operation leaves a listener on its call'(trial, client) {
      const call = new AbortableCall(trial.ttl)
      for (const [operation, run] of Object.entries(operations(trial, client, call))) {
        await run()
        assert.equal(call.listeners, 0, operation)
      }
    },
    async 'a ttl beyond the limits is rejected with a LeaseConfigurationError, and creates no record'(trial, client) {
      const { minTtl, maxTtl, infinite } = client.limits
      const wrong = [minTtl / 2, -1, 0, Number.NaN, maxTtl * 2, ...(infinite ? [] : [Number.POSITIVE_INFINITY])]
      for (const ttl of wrong) {
        await assert.rejects(trial.acquire(client, { ttl }), LeaseConfigurationError, `a ttl of ${ttl}`)
      }
      assert.equal(await trial.read(client), undefined)
    },
    async 'the ttl of the trials is within the limits of the store'(trial) {
      const { limits } = await trial.open()
      assert(limits.minTtl > 0 && limits.minTtl <= limits.maxTtl)
      assert(trial.ttl >= limits.minTtl && trial.ttl <= limits.maxTtl)
    },
  }),
  ...grantedStoreLawsOf('limits', ['partition'], {
    async 'a call of a client that is cut off ends when it is aborted, at the latest'(trial, _, client) {
      await trial.backend.cutOff?.(client)
      const call = new AbortableCall(trial.ttl)
      const calls = Object.entries(operations(trial, client, call)).map(async ([operation, run]) => {
        await assert.rejects(run(), `${operation} did not reject`)
      })
      await trial.pass(trial.ttl / 100)
      call.abort(new Error('enough'))
      await trial.time.until(Promise.all(calls), trial.ttl)
      await trial.backend.heal?.(client)
    },
  }),
  ...grantedStoreLawsOf('limits', ['partition', 'clients'], {
    async 'a client that was cut off works again when it is healed, and others meanwhile'(trial, grant, one, other) {
      await trial.backend.cutOff?.(one)
      await trial.refused(other)
      await trial.backend.heal?.(one)
      assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
    },
  }),
]
