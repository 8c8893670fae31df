import assert from 'node:assert/strict'
import { LeaseConfigurationError, type LeaseStore, type Metadata } from '@leasehold/core'
import { type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'
import { change } from './change.js'

/** The metadata that the next holder finds; the name must be free. */
async function found(trial: StoreTrial, client: LeaseStore): Promise<Metadata | undefined> {
  const outcome = await trial.acquire(client)
  assert(outcome.granted)
  return outcome.previous
}

/** Keys that a store may take for its own, or that an assignment to an object does not keep. */
const KEYS = [
  '__key',
  '__proto__',
  '__',
  '_key',
  'constructor',
  'toString',
  'owner',
  'grantId',
  '$key',
  '.',
  'a.b',
  '0',
  ' ',
]

/** Metadata of a size in bytes. */
function metadataOf(bytes: number): Metadata {
  return { key: 'ü'.repeat((bytes - 3) / 2).padEnd((bytes - 3) / 2 + ((bytes - 3) % 2), 'x') }
}

export const storeMetadataLaws: readonly StoreLaw[] = [
  ...storeLawsOf('metadata', ['metadata'], {
    async 'the first holder of a name has no previous metadata'(trial) {
      assert.equal(await found(trial, await trial.open()), undefined)
    },
    async 'a holder gets the metadata of the last release'(trial, client) {
      const grant = await trial.granted(client, { metadata: { step: '1' } })
      await client.release(grant, trial.call, { step: '2', 'a key': 'ü "quoted" \\ \n' })
      assert.deepEqual((await trial.read(client))?.metadata, { step: '2', 'a key': 'ü "quoted" \\ \n' })
      assert.deepEqual(await found(trial, client), { step: '2', 'a key': 'ü "quoted" \\ \n' })
    },
    async 'no key is lost, also of names that the language or a store uses itself'(trial, client) {
      const texts = (step: string): Metadata => Object.fromEntries(KEYS.map((key) => [key, `${key} ${step}`]))
      const grant = await trial.granted(client, { metadata: texts('acquired') })
      assert.deepEqual((await trial.read(client))?.metadata, texts('acquired'))
      await client.update?.(grant, texts('updated'), trial.call)
      assert.deepEqual((await trial.read(client))?.metadata, texts('updated'))
      await client.release(grant, trial.call, texts('released'))
      assert.deepEqual((await trial.read(client))?.metadata, texts('released'))
      assert.deepEqual(await found(trial, client), texts('released'))
      assert.deepEqual((await trial.read(client))?.previous ?? texts('released'), texts('released'))
    },
    async 'a release without metadata leaves the metadata unchanged'(trial, client) {
      await client.release(await trial.granted(client, { metadata: { step: '1' } }), trial.call)
      assert.deepEqual(await found(trial, client), { step: '1' })
    },
    async 'a holder without metadata leaves the metadata as it found it'(trial, client) {
      await client.release(await trial.granted(client), trial.call)
      await client.release(await trial.granted(client, { metadata: { step: '1' } }), trial.call)
      const grant = await trial.granted(client)
      assert.deepEqual((await trial.read(client))?.metadata, { step: '1' })
      await client.release(grant, trial.call)
      assert.deepEqual(await found(trial, client), { step: '1' })
    },
    async 'a holder with an empty map leaves an empty map'(trial, client) {
      await client.release(await trial.granted(client, { metadata: { step: '1' } }), trial.call)
      await client.release(await trial.granted(client, { metadata: {} }), trial.call)
      assert.deepEqual(await found(trial, client), {})
    },
    async 'a grant that expires without any update keeps the metadata for the one after'(trial, client) {
      await client.release(await trial.granted(client), trial.call, { step: '1' })
      await trial.granted(client)
      await trial.expire(client)
      assert.deepEqual(await found(trial, client), { step: '1' })
    },
    async 'the metadata of a holder survives its expiry'(trial, client) {
      await trial.granted(client, { metadata: { step: '1' } })
      await trial.expire(client)
      assert.deepEqual(await found(trial, client), { step: '1' })
    },
    async 'a repeated request gets the same previous metadata again'(trial, client) {
      await client.release(await trial.granted(client, { metadata: { step: '1' } }), trial.call)
      const request = { grantId: trial.guid('own'), metadata: { step: '2' } }
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const outcome = await trial.acquire(client, request)
        assert(outcome.granted)
        assert.deepEqual(outcome.previous, { step: '1' }, `attempt ${attempt}`)
        await client.renew(outcome.grant, trial.call)
      }
      const record = await trial.read(client)
      assert.deepEqual([record?.metadata, record?.previous], [{ step: '2' }, { step: '1' }])
    },
    async 'an update replaces the metadata, renews the grant and keeps the previous metadata'(trial, client) {
      await client.release(await trial.granted(client, { metadata: { step: '1' } }), trial.call)
      const grant = await trial.granted(client, { metadata: { step: '2', other: 'x' } })
      await trial.pass(trial.ttl * 0.6)
      assert.deepEqual(await client.update?.(grant, { step: '3' }, trial.call), { renewed: true })
      await trial.pass(trial.ttl * 0.6)
      const record = await trial.read(client)
      assert.equal(record?.state, 'leased')
      assert.deepEqual([record?.metadata, record?.previous], [{ step: '3' }, { step: '1' }])
      await client.release(grant, trial.call)
      assert.deepEqual(await found(trial, client), { step: '3' })
    },
    async 'an update under a grant that is over changes nothing'(trial, client) {
      const old = await trial.granted(client, { metadata: { step: 'old' } })
      await client.release(old, trial.call)
      const outcome = await client.update?.(old, { step: 'stale' }, trial.call)
      assert.equal(outcome?.renewed, false)
      assert.deepEqual((await trial.read(client))?.metadata, { step: 'old' })
      await trial.granted(client, { metadata: { step: 'new' } })
      assert.equal((await client.update?.(old, { step: 'stale' }, trial.call))?.renewed, false)
      assert.deepEqual((await trial.read(client))?.metadata, { step: 'new' })
    },
    async 'a late request of an earlier grant with the same grant id changes no metadata'(trial, client) {
      const own = { grantId: trial.guid('own') }
      const early = await trial.granted(client, own)
      await client.release(early, trial.call, { step: '1' })
      // A duplicate of the request, which the network delivers now.
      const late = await trial.granted(client, own)
      assert(late.fencingToken > early.fencingToken)
      assert.deepEqual(await client.update?.(late, { step: '2' }, trial.call), { renewed: true })
      assert.equal((await client.update?.(early, { step: 'stale' }, trial.call))?.renewed, false)
      assert.deepEqual((await trial.read(client))?.metadata, { step: '2' })
      await client.release(early, trial.call, { step: 'stale' })
      assert.deepEqual((await trial.read(client))?.metadata, { step: '2' })
    },
    async 'a late release leaves the metadata of the next holder alone'(trial, client) {
      const old = await trial.granted(client)
      await client.release(old, trial.call)
      await trial.granted(client, { metadata: { step: 'new' } })
      assert.equal((await client.release(old, trial.call, { step: 'stale' })).released, false)
      assert.deepEqual((await trial.read(client))?.metadata, { step: 'new' })
    },
    async 'a record has room for twice the metadata of the limits, and each map for no more than once'(trial, client) {
      const room = client.limits.metadata ?? 4_096
      const metadata = metadataOf(room)
      await client.release(await trial.granted(client, { metadata }), trial.call)
      const next = await trial.granted(client, { metadata })
      const record = await trial.read(client)
      assert.deepEqual([record?.metadata, record?.previous], [metadata, metadata])
      const larger = metadataOf(room + 1)
      const rejected = client.update?.(next, larger, trial.call) ?? Promise.resolve()
      await assert.rejects(rejected, LeaseConfigurationError)
      assert.deepEqual(await client.renew(next, trial.call), { renewed: true })
    },
  }),
  ...storeLawsOf('metadata', ['metadata', 'break'], {
    async 'the metadata of a holder survives a break'(trial, client) {
      await trial.granted(client, { metadata: { step: '1' } })
      await client.break?.(trial.name, { period: 0 }, trial.call)
      await trial.pass(150)
      assert.equal((await found(trial, client))?.step, '1')
    },
    async 'the reason of a break reaches the next holder, and no later one'(trial, client) {
      await trial.granted(client, { metadata: { step: '1' } })
      await client.break?.(trial.name, { period: 0, reason: 'maintenance' }, trial.call)
      await trial.pass(150)
      const outcome = await trial.acquire(client)
      assert(outcome.granted)
      assert.deepEqual(outcome.previous, { step: '1', breakReason: 'maintenance' })
      assert.deepEqual((await trial.read(client))?.metadata, { step: '1' })
      await client.release(outcome.grant, trial.call)
      assert.deepEqual(await found(trial, client), { step: '1' })
    },
  }),
  ...storeLawsOf('metadata', ['metadata', 'change'], {
    async 'a handed-over lease keeps its metadata'(trial, client) {
      const grant = await trial.granted(client, { metadata: { step: '1' } })
      const outcome = await change(trial, client, grant)
      assert(outcome.granted)
      assert.deepEqual(outcome.previous, { step: '1' })
      assert.deepEqual((await trial.read(client))?.metadata, { step: '1' })
    },
  }),
]
