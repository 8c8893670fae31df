import assert from 'node:assert/strict'
import { LeaseConflictError, type LeaseStore } from '@leasehold/core'
import { AbortableCall, type BreakOptions } from '@leasehold/core/store'
import { lawFor } from '../law.js'
import type { StoreLaw, StoreTrial } from '../store-trial.js'

/** Resolves with the milliseconds until the name is free. */
async function breaks(trial: StoreTrial, client: LeaseStore, options: BreakOptions = {}): Promise<number> {
  assert(client.break !== undefined)
  return (await client.break(trial.name, options, trial.call)).remaining
}

export const storeBreakLaws: readonly StoreLaw[] = [
  lawFor(
    ['break', 'watchGrant'],
    'break',
    'wakes a holder that watches its grant, and no other event does',
    async (trial) => {
      const [one, other] = [await trial.open(), await trial.open()]
      const grant = await trial.granted(one)
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
  ),
  lawFor(
    ['break', 'watchGrant'],
    'break',
    'is not needed to end a watch of the grant: aborting its call ends it and leaves no listener',
    async (trial) => {
      const client = await trial.open()
      const grant = await trial.granted(client)
      const watch = new AbortableCall()
      const watching = (async () => {
        for await (const _ of client.watchGrant?.(grant, watch) ?? []);
      })()
      await trial.pass(trial.ttl / 100)
      watch.abort()
      await trial.time.until(watching, trial.ttl)
      assert.equal(watch.listeners, 0)
    },
  ),
  lawFor(
    ['break'],
    'break',
    'without a period keeps the name locked for the rest of the ttl, then frees it',
    async (trial) => {
      const [one, other] = [await trial.open(), await trial.open()]
      await trial.granted(one)
      const remaining = await breaks(trial, one)
      assert(remaining > 0 && remaining <= trial.ttl * 1.01 + 50, `${remaining} ms`)
      await trial.refused(other)
      await trial.pass(trial.ttl * 0.5)
      await trial.refused(other)
      await trial.pass(trial.ttl * 0.6)
      await trial.granted(other)
    },
  ),
  lawFor(['break'], 'break', 'with a period of 0 frees the name at once', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    await trial.granted(one)
    assert.equal(await breaks(trial, one, { period: 0 }), 0)
    await trial.granted(other)
  }),
  lawFor(['break'], 'break', 'with a period keeps the name locked for that long', async (trial) => {
    const client = await trial.open()
    await trial.granted(client)
    await breaks(trial, client, { period: trial.ttl / 2 })
    await trial.refused(client)
    await trial.pass(trial.ttl * 0.6)
    await trial.granted(client)
  }),
  lawFor(
    ['break'],
    'break',
    'with a period longer than the rest of the ttl locks the name for the rest only',
    async (trial) => {
      const client = await trial.open()
      await trial.granted(client)
      const period = Math.min(trial.ttl * 4, 60_000)
      const remaining = await breaks(trial, client, { period })
      assert(remaining <= trial.ttl * 1.01 + 50, `${remaining} ms`)
    },
  ),
  lawFor(['break'], 'break', 'makes the store refuse the next heartbeat, as broken', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    await breaks(trial, client)
    const outcome = await client.renew(grant, trial.call)
    assert(!outcome.renewed)
    assert.equal(outcome.reason, 'broken')
  }),
  lawFor(['break'], 'break', 'shows in the record, with its reason', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    await trial.granted(one, { metadata: { host: 'a' } })
    await breaks(trial, one, { reason: 'maintenance' })
    const record = await trial.read(other)
    assert.equal(record?.state, 'breaking')
    assert.equal(record.metadata.breakReason, 'maintenance')
    assert.equal(record.metadata.host, 'a')
  }),
  lawFor(['break'], 'break', 'can be repeated with a shorter period, not with a longer one', async (trial) => {
    const client = await trial.open()
    await trial.granted(client)
    const first = await breaks(trial, client, { period: trial.ttl / 4 })
    assert((await breaks(trial, client)) <= first)
    assert.equal(await breaks(trial, client, { period: 0 }), 0)
    await trial.granted(client)
  }),
  lawFor(['break'], 'break', 'of a free name rejects with a LeaseConflictError', async (trial) => {
    const client = await trial.open()
    await assert.rejects(breaks(trial, client), LeaseConflictError)
    await client.release(await trial.granted(client), trial.call)
    await assert.rejects(breaks(trial, client), LeaseConflictError)
  }),
  lawFor(['break'], 'break', 'of an expired lease leaves the name free', async (trial) => {
    const client = await trial.open()
    await trial.granted(client)
    await trial.expire(client)
    assert.equal(await breaks(trial, client), 0)
    await trial.granted(client)
  }),
  lawFor(['break'], 'break', 'lets the holder release, which frees the name', async (trial) => {
    const client = await trial.open()
    const grant = await trial.granted(client)
    await breaks(trial, client)
    await client.release(grant, trial.call)
    await trial.granted(client)
  }),
]
