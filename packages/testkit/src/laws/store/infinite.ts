import assert from 'node:assert/strict'
import { type StoreLaw, storeLawsOf } from '../store-trial.js'
import { changed } from './change.js'

const ttl = Number.POSITIVE_INFINITY

export const storeInfiniteLaws: readonly StoreLaw[] = [
  ...storeLawsOf('infinite', ['infinite'], {
    async 'a lease without expiry is held without heartbeats'(trial, one, other) {
      const grant = await trial.granted(one, { ttl })
      assert.equal(grant.ttl, ttl)
      await trial.pass(trial.time.isVirtual ? 1_000 * trial.ttl : 2 * trial.ttl)
      await trial.refused(other)
      assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
    },
    async 'the record of a lease without expiry has an infinite ttl'(trial, client) {
      await trial.granted(client, { ttl })
      const record = await trial.read(client)
      assert.equal(record?.ttl, ttl)
      assert(record.remaining === undefined || record.remaining === ttl)
    },
    async 'a lease without expiry can be released'(trial, client) {
      assert.deepEqual(await client.release(await trial.granted(client, { ttl }), trial.call), { released: true })
      await trial.granted(client)
    },
  }),
  ...storeLawsOf('infinite', ['infinite', 'break'], {
    async 'a lease without expiry is broken at once, unless there is a period'(trial, client) {
      await trial.granted(client, { ttl })
      assert.deepEqual(await client.break?.(trial.name, {}, trial.call), { remaining: 0 })
      await trial.granted(client, { ttl })
      await client.break?.(trial.name, { period: trial.ttl / 2 }, trial.call)
      await trial.refused(client)
      await trial.pass(trial.ttl)
      await trial.granted(client)
    },
  }),
  ...storeLawsOf('infinite', ['infinite', 'change'], {
    async 'a lease without expiry can be handed over, and stays without expiry'(trial, client) {
      const grant = await trial.granted(client, { ttl })
      assert.equal((await changed(trial, client, grant)).ttl, ttl)
    },
  }),
]
