import assert from 'node:assert/strict'
import { lawFor } from '../law.js'
import type { StoreLaw } from '../store-trial.js'

const ttl = Number.POSITIVE_INFINITY

export const storeInfiniteLaws: readonly StoreLaw[] = [
  lawFor(['infinite'], 'infinite', 'a lease without expiry is held without heartbeats', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    const grant = await trial.granted(one, { ttl })
    assert.equal(grant.ttl, ttl)
    await trial.pass(trial.time.isVirtual ? 1_000 * trial.ttl : 2 * trial.ttl)
    await trial.refused(other)
    assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
  }),
  lawFor(['infinite'], 'infinite', 'the record of a lease without expiry has an infinite ttl', async (trial) => {
    const client = await trial.open()
    await trial.granted(client, { ttl })
    const record = await trial.read(client)
    assert.equal(record?.ttl, ttl)
    assert(record.remaining === undefined || record.remaining === ttl)
  }),
  lawFor(['infinite'], 'infinite', 'a lease without expiry can be released', async (trial) => {
    const client = await trial.open()
    assert.deepEqual(await client.release(await trial.granted(client, { ttl }), trial.call), { released: true })
    await trial.granted(client)
  }),
  lawFor(
    ['infinite', 'break'],
    'infinite',
    'a lease without expiry is broken at once, unless there is a period',
    async (trial) => {
      const client = await trial.open()
      await trial.granted(client, { ttl })
      assert.deepEqual(await client.break?.(trial.name, {}, trial.call), { remaining: 0 })
      await trial.granted(client, { ttl })
      await client.break?.(trial.name, { period: trial.ttl / 2 }, trial.call)
      await trial.refused(client)
      await trial.pass(trial.ttl)
      await trial.granted(client)
    },
  ),
  lawFor(
    ['infinite', 'change'],
    'infinite',
    'a lease without expiry can be handed over, and stays without expiry',
    async (trial) => {
      const client = await trial.open()
      const grant = await trial.granted(client, { ttl })
      const outcome = await client.change?.(grant, { grantId: trial.guid('other'), owner: 'other' }, trial.call)
      assert(outcome?.granted)
      assert.equal(outcome.grant.ttl, ttl)
    },
  ),
]
