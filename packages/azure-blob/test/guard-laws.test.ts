import { randomUUID } from 'node:crypto'
import { AzureBlobGuard } from '@leasehold/azure-blob'
import { LeaseTimeoutError } from '@leasehold/core'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { afterAll } from 'vitest'
import { Azurite } from './support/azurite.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())

const NAME = 'data'

/** The guard and its blob. */
interface Guarded extends GuardedResource {
  readonly guard: AzureBlobGuard
}

const subject: GuardSubject = {
  name: 'AzureBlobGuard',
  start: async () => {
    const container = azurite.container(`guard-laws-${randomUUID()}`)
    await container.create()
    const other = container.getBlockBlobClient('other')
    await other.upload('', 0)
    // The statuses with which the service also answers where a guarded write has lost a race.
    const exists = await other.upload('', 0, { conditions: { ifNoneMatch: '*' } }).catch((error) => error)
    const changed = await other.upload('', 0, { conditions: { ifMatch: '"0x1"' } }).catch((error) => error)
    const failing = (name: string, error: unknown): OwnFailure => ({
      name,
      guarded: (guarded, token) => (guarded as Guarded).guard.transact(NAME, token, () => Promise.reject(error)),
      unguarded: () => Promise.reject(error),
    })
    return {
      open: (): Guarded => {
        const guard = new AzureBlobGuard(container)
        return {
          guard,
          write: (value, token) => guard.write(NAME, token, value),
          writeAfter: (value, token, meanwhile) =>
            guard.transact(NAME, token, async (blob, fenced) => {
              await meanwhile()
              await blob.upload(value, value.length, { ...fenced })
            }),
          delete: (token) => guard.delete(NAME, token),
        }
      },
      read: async () => {
        const blob = container.getBlockBlobClient(NAME)
        if (!(await blob.exists())) return undefined
        const { metadata } = await blob.getProperties()
        return metadata?.leaseholddeleted === undefined ? String(await blob.downloadToBuffer()) : undefined
      },
      ownFailures: [
        failing('an error', new RangeError("the user's own")),
        failing('a typed error', new LeaseTimeoutError("the user's own")),
        failing('no error', 'a text'),
        failing('409 of another blob', exists),
        failing('412 of another blob', changed),
      ],
    }
  },
}

describeGuardLaws(subject)
