import { randomUUID } from 'node:crypto'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { createLease, type HandOff } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { Azurite } from './support/azurite.js'
import { never } from './support/claims.js'
import { times } from './support/proxied.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

const DURATIONS = [15_000, 60_000, Number.POSITIVE_INFINITY, 30_000]

describe.concurrent('a pipeline whose steps have different durations', () => {
  it.each([
    { resource: 'blob', metadata: true },
    { resource: 'blob', metadata: false },
    { resource: 'container', metadata: true },
    { resource: 'container', metadata: false },
  ] as const)(
    'on a $resource, with metadata $metadata: the service has the duration of each step',
    {
      timeout: 120_000,
    },
    async ({ resource, metadata }) => {
      const service = azurite.service()
      const name = `steps-${randomUUID()}`
      const container = service.getContainerClient(name)
      await container.create()
      const client = resource === 'blob' ? container : service
      const store = new AzureBlobLeaseStore(client, { names: 'exact', create: true, metadata })
      const thief = createLease(store, name, { ...times, owner: 'thief' })
      let token = 0n
      let handOff: HandOff | undefined
      for (const [place, heartbeatTimeout] of DURATIONS.entries()) {
        const step = createLease(store, name, { ...times, owner: `step-${place}`, heartbeatTimeout })
        expect(await (handOff === undefined ? step.acquire({ wait: 10_000 }) : step.adopt(handOff))).toBe(true)
        expect(step.fencingToken).toBeGreaterThan(token)
        token = step.fencingToken ?? 0n
        const shown = resource === 'blob' ? container.getBlobClient(name) : container
        const { leaseDuration, leaseState } = await shown.getProperties()
        expect(leaseState).toBe('leased')
        expect(leaseDuration).toBe(heartbeatTimeout === Number.POSITIVE_INFINITY ? 'infinite' : 'fixed')
        if (metadata)
          expect(await store.read(name, never)).toMatchObject({ ttl: heartbeatTimeout, fencingToken: token })
        expect(await thief.acquire()).toBe(false)
        if (place === DURATIONS.length - 1) expect(await step.release()).toBe(true)
        else handOff = await step.handOff({ owner: `step-${place + 1}` })
      }
      await store.close()
    },
  )
})
