import assert from 'node:assert/strict'
import type { LeaseStore } from '@leasehold/core'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'

const CONTENDERS = 30

/** Returns the contenders once they are connected: a connection may take as long as a ttl. */
async function gather(trial: StoreTrial): Promise<readonly LeaseStore[]> {
  const clients: LeaseStore[] = []
  for (let contender = 0; contender < CONTENDERS; contender += 1) clients.push(await trial.open())
  await Promise.all(clients.map((client) => trial.read(client)))
  return clients
}

async function contend(trial: StoreTrial, clients: readonly LeaseStore[]): Promise<number> {
  const asked = clients.map((client, contender) => trial.acquire(client, { owner: `contender ${contender}` }))
  const outcomes = await Promise.allSettled(asked)
  return outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value.granted).length
}

export const storeExclusionLaws: readonly StoreLaw[] = [
  ...storeLawsOf('exclusion', [], {
    async 'the first request is granted, with its own grant id, owner and ttl'(trial, client) {
      const own = { owner: 'first', grantId: trial.guid('first') }
      // A store may add fields of its own to a grant.
      const { name, owner, grantId, ttl, fencingToken } = await trial.granted(client, own)
      assert.deepEqual({ name, owner, grantId, ttl }, { name: trial.name, ...own, ttl: trial.ttl })
      assert.equal(typeof fencingToken, 'bigint')
    },
    async 'a second request is refused, with the holder'(trial, one, other) {
      const grant = await trial.granted(one, { owner: 'first' })
      const holder = await trial.refused(other, { owner: 'second' })
      assert.equal(holder?.owner, 'first')
      assert.equal(holder.grantId, grant.grantId)
      assert.equal(holder.fencingToken, grant.fencingToken)
      assert.equal(holder.state, 'leased')
    },
    async 'a refusal changes nothing: the holder renews and releases as before'(trial, one, other) {
      const grant = await trial.granted(one)
      await trial.refused(other)
      assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
      assert.deepEqual(await one.release(grant, trial.call), { released: true })
    },
    async [`one of ${CONTENDERS} concurrent requests for a new name is granted`](trial) {
      assert.equal(await contend(trial, await gather(trial)), 1)
    },
    async [`one of ${CONTENDERS} concurrent requests for a released name is granted`](trial, client) {
      await client.release(await trial.granted(client), trial.call)
      assert.equal(await contend(trial, await gather(trial)), 1)
    },
    async [`none of ${CONTENDERS} concurrent requests for a held name is granted`](trial) {
      const clients = await gather(trial)
      await trial.granted(await trial.open())
      assert.equal(await contend(trial, clients), 0)
    },
    async 'two names are independent of each other'(trial, client) {
      const other = `${trial.name}-2`
      const grant = await trial.granted(client)
      const second = await trial.granted(client, { name: other })
      await client.release(grant, trial.call)
      assert.deepEqual(await client.renew(second, trial.call), { renewed: true })
      await trial.refused(client, { name: other })
    },
    async 'every client reads the grant as the answer had it'(trial, one, other) {
      assert.equal(await trial.read(other), undefined)
      const grant = await trial.granted(one, { metadata: { host: 'a', ключ: '値' } })
      for (const client of [one, other]) {
        const record = await trial.read(client)
        assert(record !== undefined)
        for (const field of ['name', 'owner', 'grantId', 'fencingToken', 'ttl'] as const) {
          assert.equal(record[field], grant[field], field)
        }
        assert.equal(record.state, 'leased')
        assert.deepEqual({ ...record.metadata }, { host: 'a', ключ: '値' })
      }
    },
    async 'a record says how much of its ttl remains, never more than the ttl'(trial, client) {
      await trial.granted(client)
      const { remaining } = (await trial.read(client)) ?? {}
      if (remaining === undefined) return
      assert(remaining > 0 && remaining <= trial.ttl * 1.01 + 50, `${remaining} ms of ${trial.ttl}`)
    },
  }),
  ...storeLawsOf('exclusion', ['server-time'], {
    async [`one of ${CONTENDERS} concurrent requests for an expired name is granted`](trial, client) {
      const clients = await gather(trial)
      await trial.granted(client)
      await trial.expire(client)
      assert.equal(await contend(trial, clients), 1)
    },
  }),
  ...grantedStoreLawsOf('re-entrancy', [], {
    async 'a request under the grant id in force succeeds again, with the same token'(trial, grant, client) {
      const again = await trial.granted(client, { grantId: grant.grantId })
      assert.deepEqual(again, grant)
    },
    async 'a request under the grant id in force restarts the ttl'(trial, grant, one, other) {
      await trial.refused(other)
      await trial.pass(trial.ttl * 0.7)
      await trial.granted(one, { grantId: grant.grantId })
      await trial.pass(trial.ttl * 0.6)
      await trial.refused(other)
    },
    async 'a request under the grant id in force sets another ttl, longer or shorter, under the same token'(
      trial,
      grant,
      one,
      other,
    ) {
      const longer = await trial.granted(one, { grantId: grant.grantId, ttl: 2 * trial.ttl })
      assert.equal(longer.ttl, 2 * trial.ttl)
      assert.equal(longer.fencingToken, grant.fencingToken)
      assert.equal((await trial.read(other))?.ttl, 2 * trial.ttl)
      await trial.pass(trial.ttl * 1.2)
      await trial.refused(other)
      assert.deepEqual(await one.renew(longer, trial.call), { renewed: true })
      const shorter = await trial.granted(one, { grantId: grant.grantId })
      assert.equal(shorter.ttl, trial.ttl)
      assert.equal(shorter.fencingToken, grant.fencingToken)
      await trial.expire(other)
      await trial.granted(other)
    },
  }),
  ...storeLawsOf('re-entrancy', [], {
    async 'concurrent requests under one grant id get the same token'(trial, one, other) {
      const ask = (client: LeaseStore) => trial.acquire(client, { grantId: trial.guid('twice') })
      const answers = await Promise.allSettled([ask(one), ask(other), ask(one)])
      const tokens = answers.flatMap((answer) =>
        answer.status === 'fulfilled' && answer.value.granted ? [answer.value.grant.fencingToken] : [],
      )
      assert(tokens.length >= 1)
      assert.equal(new Set(tokens).size, 1)
    },
    async 'a request of the same owner under another grant id is refused'(trial, client) {
      await trial.granted(client, { owner: 'same' })
      const holder = await trial.refused(client, { owner: 'same' })
      assert.equal(holder?.owner, 'same')
    },
  }),
]
