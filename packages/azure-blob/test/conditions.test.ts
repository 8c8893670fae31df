import { randomUUID } from 'node:crypto'
import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import {
  type AzureBlobConditions,
  AzureBlobLeaseStore,
  breakLeaseIf,
  createAzureBlobLease,
} from '@leasehold/azure-blob'
import { type Grant, LeaseConfigurationError, LeaseConflictError } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { claimOf, granted, never, TTL } from './support/claims.js'
import { ServiceProxy } from './support/service-proxy.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

/** A grant on a blob, or on a container, whose ETag and time are known. */
interface Scene {
  readonly store: AzureBlobLeaseStore
  readonly grant: Grant
  readonly client: BlockBlobClient | ContainerClient
}

type Kind = 'a blob' | 'a container'

async function setUp(kind: Kind, metadata: boolean, port = azurite.port): Promise<Scene> {
  const name = `user-${randomUUID().slice(0, 13)}`
  const service = azurite.service(undefined, port)
  const container = azurite.container(name)
  await container.create()
  if (kind === 'a container') {
    const store = new AzureBlobLeaseStore(service, { names: 'exact', metadata })
    return { store, client: container, grant: await granted(store, name) }
  }
  const store = new AzureBlobLeaseStore(service.getContainerClient(name), { names: 'exact', metadata })
  const client = container.getBlockBlobClient(name)
  await client.upload('ours', 4)
  return { store, client, grant: await granted(store, name) }
}

async function stateOf({ client }: Scene): Promise<readonly [string | undefined, string | undefined]> {
  const { leaseState, etag } = await client.getProperties()
  return [leaseState, etag]
}

const minute = 60_000

/** Conditions that are met, and that are not, by what was written at a time. */
function conditionsAt(etag: string, written: Date): readonly [AzureBlobConditions, boolean][] {
  const before = new Date(written.getTime() - minute)
  const other = '"0x0123456789ABCDE"'
  return [
    [{ ifMatch: etag }, true],
    [{ ifMatch: other }, false],
    [{ ifNoneMatch: other }, true],
    [{ ifNoneMatch: etag }, false],
    [{ ifModifiedSince: before }, true],
    [{ ifModifiedSince: written }, false],
    [{ ifUnmodifiedSince: written }, true],
    [{ ifUnmodifiedSince: before }, false],
    [{ ifMatch: etag, ifUnmodifiedSince: before }, false],
  ]
}

/** The operations that take conditions. Each succeeds once. */
const operations: Readonly<Record<string, (scene: Scene, conditions: AzureBlobConditions) => Promise<unknown>>> = {
  renew: async ({ store, grant }, conditions) => {
    expect(await store.renew(grant, never, conditions)).toEqual({ renewed: true })
  },
  change: async ({ store, grant }, conditions) => {
    const to = { grantId: randomUUID(), owner: 'bert' }
    expect(await store.change(grant, to, never, conditions)).toMatchObject({ granted: true, grant: to })
  },
  release: async ({ store, grant }, conditions) => {
    expect(await store.release(grant, never, undefined, conditions)).toEqual({ released: true })
  },
  'release with metadata': async ({ store, grant }, conditions) => {
    const metadata = store.limits.metadata === 0 ? {} : { step: '2' }
    expect(await store.release(grant, never, metadata, conditions)).toEqual({ released: true })
  },
  break: async ({ store, grant }, conditions) => {
    expect(await store.break(grant.name, { period: 0, conditions }, never)).toEqual({ remaining: 0 })
  },
  'break with a reason': async ({ store, grant }, conditions) => {
    expect(await breakLeaseIf(store, grant.name, { period: 0, reason: 'why', conditions })).toEqual({
      remaining: 0,
    })
  },
  'break of a grant': async ({ store, grant }, conditions) => {
    const { grantId } = grant
    const breaking = { period: 0, conditions, ...(store.limits.metadata === 0 ? {} : { grantId }) }
    expect(await store.break(grant.name, breaking, never)).toEqual({ remaining: 0 })
  },
}

describe.concurrent.each<[Kind, boolean]>([
  ['a blob', true],
  ['a blob', false],
  ['a container', true],
  ['a container', false],
])('a lease on %s (metadata: %s)', (kind, metadata) => {
  it.each(Object.entries(operations))('%s has an effect only if its conditions are met', async (_, operate) => {
    const scene = await setUp(kind, metadata)
    const { etag = '', lastModified = new Date(0) } = await scene.client.getProperties()
    const conditions = conditionsAt(etag, lastModified)
    for (const [unmet] of conditions.filter(([, isMet]) => !isMet)) {
      const before = await stateOf(scene)
      await expect(operate(scene, unmet)).rejects.toBeInstanceOf(LeaseConflictError)
      expect(await stateOf(scene)).toEqual(before)
    }
    const together = Object.assign({}, ...conditions.filter(([, isMet]) => isMet).map(([met]) => met))
    await operate(scene, together)
  })

  it('acquire with ifMatch has an effect only if nothing was written since', async () => {
    const scene = await setUp(kind, metadata)
    const { store, client, grant } = scene
    await store.release(grant, never)
    const { etag: ifMatch = '' } = await client.getProperties()
    const first = await store.acquire(claimOf(grant.name, { ifMatch }), never)
    expect(first).toMatchObject({ granted: true })
    await store.release(first.granted ? first.grant : grant, never)
    await client.setMetadata({ colour: 'blue' })
    await expect(store.acquire(claimOf(grant.name, { ifMatch }), never)).rejects.toThrow(/has changed since version/)
    expect((await stateOf(scene))[0]).toBe('available')
  })
})

describe.concurrent('a write between the look and the request', () => {
  it.each(['renew', 'release', 'change', 'break'] as const)('is noticed: %s has no effect', async (operation) => {
    const proxy = await ServiceProxy.start(azurite.port)
    const scene = await setUp('a blob', false, proxy.port)
    const { client, grant } = scene
    const { etag: ifMatch = '' } = await client.getProperties()
    let written: Promise<unknown> | undefined
    // The write reaches the service before the delayed request.
    proxy.behave(({ leaseAction }) => {
      if (leaseAction !== operation || written !== undefined) return undefined
      written = client.setMetadata({ colour: 'blue' }, { conditions: { leaseId: grant.grantId } })
      return { kind: 'delay', before: 1_000 }
    })
    const operated = operations[operation]?.(scene, { ifMatch })
    await expect(operated).rejects.toThrow(/has changed since version/)
    await written
    proxy.heal()
    expect((await stateOf(scene))[0]).toBe('leased')
    expect(await scene.store.renew(grant, never)).toEqual({ renewed: true })
    await proxy.stop()
  })
})

describe.concurrent('an AzureBlobLease', () => {
  const times = { heartbeatTimeout: TTL, heartbeatInterval: 3_000, operationTimeout: 3_000 }

  it('stays held where the condition of a renewal, a release or a hand-off is not met', async () => {
    const { store, grant, client } = await setUp('a blob', false)
    await store.release(grant, never)
    const lease = createAzureBlobLease(store, grant.name, times)
    await lease.acquire({ wait: TTL })
    const conditions = { ifMatch: lease.etag ?? '' }
    expect(await lease.renew({ conditions })).toBe(true)
    await lease.blob.upload('changed', 7, { conditions: lease.conditions() })
    await expect(lease.renew({ conditions })).rejects.toBeInstanceOf(LeaseConflictError)
    await expect(lease.release({ conditions })).rejects.toBeInstanceOf(LeaseConflictError)
    await expect(lease.handOff({ conditions })).rejects.toBeInstanceOf(LeaseConflictError)
    expect(lease.checkLease()).toBe(true)
    const { etag: ifMatch = '' } = await client.getProperties()
    const handOff = await lease.handOff({ conditions: { ifMatch } })
    const next = createAzureBlobLease(store, grant.name, { ...times, owner: handOff.owner })
    expect(await next.adopt(handOff)).toBe(true)
    expect(await next.release({ conditions: { ifMatch } })).toBe(true)
    expect((await client.getProperties()).leaseState).toBe('available')
  })

  it('that holds nothing releases without a look at the conditions', async () => {
    const { store, grant } = await setUp('a blob', false)
    const other = createAzureBlobLease(store, grant.name, times)
    expect(await other.release({ conditions: { ifMatch: '"0x1"' } })).toBe(true)
    expect(await store.renew(grant, never)).toEqual({ renewed: true })
  })
})

describe('conditions that are not valid', () => {
  it.each([
    ['a text', '"0x1"', /conditions must be an object/],
    ['an ETag that is none', { ifMatch: 7 }, /ifMatch must be a text/],
    ['an empty ETag', { ifNoneMatch: '' }, /ifNoneMatch must be a text/],
    ['a time that is none', { ifModifiedSince: '2024' }, /ifModifiedSince must be a valid Date/],
    ['an invalid time', { ifUnmodifiedSince: new Date('soon') }, /ifUnmodifiedSince must be a valid Date/],
  ])('are a LeaseConfigurationError: %s', async (_, conditions, message) => {
    const store = new AzureBlobLeaseStore(azurite.container('unused'))
    const broken = breakLeaseIf(store, 'job', { conditions: conditions as never })
    await expect(broken).rejects.toThrow(message)
    await expect(broken).rejects.toBeInstanceOf(LeaseConfigurationError)
  })
})
