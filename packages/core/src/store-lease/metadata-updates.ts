import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import type { Metadata } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { faultOfMetadata, roomOf } from '../store/metadata.js'
import { Deferred } from '../time/deferred.js'

interface Update {
  readonly metadata: Metadata
  readonly written: Deferred<boolean>
}

/** The updates of one lease's metadata: sent one at a time, in the order in which they were asked for. */
export class MetadataUpdates {
  readonly #send: (metadata: Metadata) => void
  #updates: Update[] = []

  constructor(send: (metadata: Metadata) => void) {
    this.#send = send
  }

  /** Resolves `true` once the metadata was written, `false` when the grant ended first. */
  add(metadata: Metadata): Promise<boolean> {
    const update = { metadata, written: new Deferred<boolean>() }
    this.#updates.push(update)
    if (this.#updates.length === 1) this.#send(metadata)
    return update.written.promise
  }

  /** The update under way was written, or certainly failed with the error. */
  onUpdated(error: unknown): void {
    const [first, next] = this.#updates
    this.#updates.shift()
    if (error === undefined) first?.written.resolve(true)
    else first?.written.reject(error)
    if (next !== undefined) this.#send(next.metadata)
  }

  /** The grant has ended. */
  end(): void {
    const ended = this.#updates
    this.#updates = []
    for (const { written } of ended) written.resolve(false)
  }
}

/** Throws a `LeaseConfigurationError` if the store cannot replace the metadata of a record by this. */
export function checkUpdate(metadata: Metadata, store: LeaseStore, details: LeaseErrorDetails): void {
  const fault = faultOfMetadata(metadata, roomOf(store.limits))
  if (fault !== undefined) throw new LeaseConfigurationError(fault, details)
  if (store.update !== undefined) return
  const message = `the ${store.kind ?? 'custom'} store cannot update metadata: give it to acquire, or to release`
  throw new LeaseConfigurationError(message, details)
}
