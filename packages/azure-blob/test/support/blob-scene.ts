import { randomUUID } from 'node:crypto'
import type { BlockBlobClient } from '@azure/storage-blob'
import type { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { type Grant, LeaseConflictError } from '@leasehold/core'
import { isStatus } from '../../src/service-answer.js'
import { never } from './claims.js'

/** The lease ids of the tables. */
export type Letter = 'A' | 'B' | 'C'

/** How the cells of the tables are worked: `false` is the 409 of the table. */
export interface Hand {
  acquire(letter: Letter, ttl: number): Promise<boolean>
  break(period?: number): Promise<boolean>
  change(from: Letter, to: Letter): Promise<boolean>
  renew(letter: Letter): Promise<boolean>
  release(letter: Letter): Promise<boolean>
}

/** A blob with a lease name and ids of its own. */
export class BlobScene {
  readonly name = `cell-${randomUUID()}`
  readonly ids: Readonly<Record<Letter, string>> = { A: randomUUID(), B: randomUUID(), C: randomUUID() }
  readonly store: AzureBlobLeaseStore
  readonly blob: BlockBlobClient
  /** The id that the service has made. */
  madeId = ''

  constructor(store: AzureBlobLeaseStore) {
    this.store = store
    this.blob = store.blobOf(this.name)
  }

  /** By the operations of the store. */
  readonly byStore: Hand = {
    acquire: async (letter, ttl) => {
      const request = { name: this.name, owner: letter, grantId: this.ids[letter], ttl }
      return (await this.store.acquire(request, never)).granted
    },
    break: async (period) => {
      try {
        await this.store.break(this.name, period === undefined ? {} : { period }, never)
        return true
      } catch (error) {
        if (error instanceof LeaseConflictError) return false
        throw error
      }
    },
    change: async (from, to) => {
      const outcome = await this.store.change(this.#grantOf(from), { grantId: this.ids[to], owner: to }, never)
      return outcome.granted
    },
    renew: async (letter) => (await this.store.renew(this.#grantOf(letter), never)).renewed,
    release: async (letter) => (await this.store.release(this.#grantOf(letter), never)).released,
  }

  /** By the client of the service. */
  readonly byClient: Hand & { acquireWithoutId(): Promise<boolean> } = {
    acquire: (letter, ttl) => succeeds(this.#leaseClient(letter).acquireLease(ttl / 1_000)),
    acquireWithoutId: () =>
      succeeds(
        this.blob
          .getBlobLeaseClient()
          .acquireLease(60)
          .then(({ leaseId = '' }) => {
            this.madeId = leaseId
          }),
      ),
    break: (period) => {
      // The type requires a number; without one the service takes the time left.
      const seconds = period === undefined ? (undefined as unknown as number) : period / 1_000
      return succeeds(this.blob.getBlobLeaseClient().breakLease(seconds))
    },
    change: (from, to) => succeeds(this.#leaseClient(from).changeLease(this.ids[to])),
    renew: (letter) => succeeds(this.#leaseClient(letter).renewLease()),
    release: (letter) => succeeds(this.#leaseClient(letter).releaseLease()),
  }

  /** The state as the tables write it. The letter is that of the id that can end the lease, which this does. */
  async endState(): Promise<string> {
    const { leaseState = '' } = await this.blob.getProperties()
    if (leaseState === 'available') return leaseState
    for (const letter of ['A', 'B', 'C'] as const) {
      if (await this.byClient.release(letter)) return `${leaseState} (${letter})`
    }
    const isMade = this.madeId !== '' && (await succeeds(this.blob.getBlobLeaseClient(this.madeId).releaseLease()))
    return `${leaseState} (${isMade ? 'X' : 'unknown'})`
  }

  #leaseClient(letter: Letter): ReturnType<BlockBlobClient['getBlobLeaseClient']> {
    return this.blob.getBlobLeaseClient(this.ids[letter])
  }

  /** The token is larger than any that the store gives: the service knows grants by their ids alone. */
  #grantOf(letter: Letter): Grant {
    return { name: this.name, owner: letter, grantId: this.ids[letter], fencingToken: 10n ** 15n, ttl: 15_000 }
  }
}

async function succeeds(request: Promise<unknown>): Promise<boolean> {
  try {
    await request
    return true
  } catch (error) {
    if (isStatus(error, 409)) return false
    throw error
  }
}
