import assert from 'node:assert/strict'
import { LeaseConflictError, type LeaseStore } from '@leasehold/core'
import { AbortableCall, type BreakOptions } from '@leasehold/core/store'
import { grantedStoreLawsOf, type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'
import { stayedOver } from './renewal.js'

/** Resolves with the milliseconds until the name is free. */
async function breaks(trial: StoreTrial, client: LeaseStore, options: BreakOptions = {}): Promise<number> {
  assert(client.break !== undefined)
  return (await client.break(trial.name, options, trial.call)).remaining
}

export const storeBreakLaws: readonly StoreLaw[] = [
  ...grantedStoreLawsOf('break', ['break', 'watchGrant'], {
    async 'wakes a holder that watches its grant, and no other event does'(trial, grant, one, other) {
      const watch = new AbortableCall()
      let changes = 0
      const watching = (async () => {
        for await (const _ of one.watchGrant?.(grant, watch) ?? []) {
          changes += 1
          return
        }
      })()
      for (let beat = 0; beat < 3; beat += 1) {
        await trial.pass(trial.ttl / 50)
        assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
      }
      await trial.refused(other)
      await trial.pass(trial.ttl / 50)
      assert.equal(changes, 0, 'the own heartbeats of the holder, or a challenger, woke it')
      await breaks(trial, other)
      await trial.time.until(watching, trial.ttl)
      assert.equal(changes, 1)
      watch.abort()
    },
    async 'is not needed to end a watch of the grant: aborting its call ends it and leaves no listener'(
      trial,
      grant,
      client,
    ) {
      await trial.endsWhenAborted((watch) => client.watchGrant?.(grant, watch))
    },
  }),
  ...grantedStoreLawsOf('break', ['break'], {
    async 'a broken grant does not come back with a late duplicate of its claim'(trial, grant, one, other) {
      await breaks(trial, other, { period: 0 })
      await stayedOver(trial, grant, one, one)
    },
    async 'without a period keeps the name locked for the rest of the ttl, then frees it'(trial, _, one, other) {
      const remaining = await breaks(trial, one)
      assert(remaining > 0 && remaining <= trial.ttl * 1.01 + 50, `${remaining} ms`)
      await trial.refused(other)
      await trial.pass(trial.ttl * 0.5)
      await trial.refused(other)
      await trial.pass(trial.ttl * 0.6)
      await trial.granted(other)
    },
    async 'with a period of 0 frees the name at once'(trial, _, one, other) {
      assert.equal(await breaks(trial, one, { period: 0 }), 0)
      await trial.granted(other)
    },
    async 'with a period keeps the name locked for that long'(trial, _, client) {
      await breaks(trial, client, { period: trial.ttl / 2 })
      await trial.refused(client)
      await trial.pass(trial.ttl * 0.6)
      await trial.granted(client)
    },
    async 'with a period longer than the rest of the ttl locks the name for the rest only'(trial, _, client) {
      const period = Math.min(trial.ttl * 4, 60_000)
      const remaining = await breaks(trial, client, { period })
      assert(remaining <= trial.ttl * 1.01 + 50, `${remaining} ms`)
    },
    async 'makes the store refuse the next heartbeat, as broken'(trial, grant, client) {
      await breaks(trial, client)
      const outcome = await client.renew(grant, trial.call)
      assert(!outcome.renewed)
      assert.equal(outcome.reason, 'broken')
    },
    async 'can be repeated with a shorter period, not with a longer one'(trial, _, client) {
      const first = await breaks(trial, client, { period: trial.ttl / 4 })
      assert((await breaks(trial, client)) <= first)
      assert.equal(await breaks(trial, client, { period: 0 }), 0)
      await trial.granted(client)
    },
    async 'of one grant rejects with a LeaseConflictError after its release'(trial, grant, client) {
      await client.release(grant, trial.call)
      await assert.rejects(breaks(trial, client, { grantId: grant.grantId }), LeaseConflictError)
    },
    async 'of an expired lease leaves the name free'(trial, _, client) {
      await trial.expire(client)
      assert.equal(await breaks(trial, client), 0)
      await trial.granted(client)
    },
    async 'lets the holder release, which frees the name'(trial, grant, client) {
      await breaks(trial, client)
      await client.release(grant, trial.call)
      await trial.granted(client)
    },
    async 'of one grant breaks that grant'(trial, { grantId }, one, other) {
      assert((await breaks(trial, other, { grantId })) > 0)
      assert.equal((await trial.read(one))?.state, 'breaking')
    },
    async 'of one grant rejects with a LeaseConflictError where another one follows, and changes nothing'(
      trial,
      earlier,
      one,
      other,
    ) {
      await one.release(earlier, trial.call)
      const grant = await trial.granted(one)
      await assert.rejects(breaks(trial, other, { grantId: earlier.grantId }), LeaseConflictError)
      await assert.rejects(breaks(trial, other, { grantId: earlier.grantId, period: 0 }), LeaseConflictError)
      assert.deepEqual(await one.renew(grant, trial.call), { renewed: true })
      assert.equal((await trial.read(one))?.state, 'leased')
    },
  }),
  ...storeLawsOf('break', ['break'], {
    async 'shows in the record, with its reason'(trial, one, other) {
      await trial.granted(one, { metadata: { host: 'a' } })
      await breaks(trial, one, { reason: 'maintenance' })
      const record = await trial.read(other)
      assert.equal(record?.state, 'breaking')
      assert.equal(record.metadata.breakReason, 'maintenance')
      assert.equal(record.metadata.host, 'a')
    },
    async 'of a free name rejects with a LeaseConflictError'(trial, client) {
      await assert.rejects(breaks(trial, client), LeaseConflictError)
      await client.release(await trial.granted(client), trial.call)
      await assert.rejects(breaks(trial, client), LeaseConflictError)
    },
  }),
]
