import type { LeaseRecord } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'
import type { EtcdClient } from './client/etcd-client.js'
import { Watches } from './client/watches.js'
import { lockIn, toLeaseRecord } from './name-state.js'
import type { NameTable } from './name-table.js'

/** The time that a waiter has to ask when it is its turn, in milliseconds, before it is notified again. */
const AGAIN = 1_000

/** The waiters of a store. Each watches the key before its own, so that the end of a grant wakes one waiter. */
export class Turns {
  readonly #client: EtcdClient
  readonly #names: NameTable
  readonly #watches: Watches

  constructor(client: EtcdClient, names: NameTable) {
    this.#client = client
    this.#names = names
    this.#watches = new Watches(client)
  }

  /**
   * Yields when the waiter is the first in the queue, or has lost its place: its own key is deleted when the holder passes
   * the lease on to it.
   */
  async *ofWaiter(name: string, grantId: string, call: StoreCall): AsyncGenerator<undefined> {
    while (!call.aborted) {
      // The state is remembered, so that the request that follows is one transaction.
      const { own, first, queued, revision } = await this.#names.read(name, grantId, call)
      if (own === undefined || first?.key.equals(own.key) === true) {
        yield undefined
        await pause(this.#client.clock, AGAIN, call)
        continue
      }
      const before = queued === 2 ? { key: first?.key, revision } : await this.#before(name, own.createRevision, call)
      if (before.key !== undefined) {
        await this.#deletionOfEither(before.key, own.key, before.revision + 1n, call)
      }
    }
  }

  /** Yields when the name is free, and after each end of a grant. */
  async *ofName(name: string, call: StoreCall): AsyncGenerator<LeaseRecord | undefined> {
    let isFirst = true
    while (!call.aborted) {
      const state = await this.#names.read(name, undefined, call)
      if (!isFirst || lockIn(state) === undefined) yield toLeaseRecord(name, state)
      isFirst = false
      const range = this.#names.keys.claimsOf(name)
      await this.#watches.deletion({ ...range, from: state.revision + 1n }, call)
    }
  }

  close(): void {
    this.#watches.close()
  }

  /** Resolves when one of the keys was deleted, or events may have been missed. */
  async #deletionOfEither(one: Buffer, other: Buffer, from: bigint, call: StoreCall): Promise<void> {
    const either = new AbortableCall()
    const removeListener = call.onAbort(() => either.abort(call.signal.reason))
    const deletions = [one, other].map((key) => this.#watches.deletion({ key, from }, either))
    try {
      await Promise.race(deletions)
    } finally {
      removeListener()
      either.abort()
      await Promise.allSettled(deletions)
    }
  }

  /** The key before this one in the queue, and the revision at which it was there. */
  async #before(name: string, createRevision: string, call: StoreCall) {
    const requestRange = {
      ...this.#names.keys.claimsOf(name),
      maxCreateRevision: String(BigInt(createRevision) - 1n),
      sortOrder: 2,
      sortTarget: 2,
      limit: '1',
      keysOnly: true,
    }
    const { header, responses } = await this.#client.read([{ requestRange }], call)
    return { key: responses[0]?.responseRange?.kvs[0]?.key, revision: BigInt(header.revision) }
  }
}
