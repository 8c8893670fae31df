import {
  type Clock,
  type CreateLeaseOptions,
  createLease,
  isLocked,
  type LeaseRecord,
  type LeaseStore,
  listLeases,
  type Metadata,
  type StoreLease,
  type StoreOperationOptions,
} from '@leasehold/core'
import { recipeOf } from './record-kind.js'

/** How many places are tried in one round until a free one is found. */
const ATTEMPTS = 8

/** The largest number of digits of a place. */
const PLACE = /^\d{1,9}$/

export interface PlacesOptions {
  readonly store: LeaseStore
  /** The beginning of the names of the places; a number follows. */
  readonly prefix: string
  /** The recipe whose places they are: a record of another recipe is no place. */
  readonly recipe: string
  readonly leaseOptions: CreateLeaseOptions
  readonly clock: Clock
  readonly random: () => number
  /** Gets the failures of heartbeats, unless the user of the place subscribes itself. */
  readonly report?: (error: unknown) => void
}

/** The beginning and the number in the name of a place; `undefined` if it can be the name of none. */
export function placeIn(name: string): { readonly prefix: string; readonly place: number } | undefined {
  const start = name.lastIndexOf('/') + 1
  const place = name.slice(start)
  return PLACE.test(place) ? { prefix: name.slice(0, start), place: Number(place) } : undefined
}

/** The record of a place. */
interface PlaceRecord {
  readonly place: number
  readonly isFree: boolean
  readonly isOther: boolean
  readonly record: LeaseRecord
}

/** A place that is held. */
export interface TakenPlace {
  readonly place: number
  readonly lease: StoreLease
}

/**
 * Places for any number of processes, each with a record that the others find by listing. Places are leases with numbers as
 * names: a place that was left is taken again, so that there are about as many records as there ever were processes at a time.
 * Records with the names of the processes would stay in the store for ever, and every listing would read them.
 */
export class Places {
  readonly #options: PlacesOptions

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /** The places that are held, with their records. Rejects if the store does not answer. */
  held(signal?: AbortSignal): AsyncGenerator<{ readonly place: number; readonly record: LeaseRecord }> {
    return heldPlaces(this.#options, this.#listing(signal))
  }

  /** Takes a free place, with these metadata. `undefined`: others were faster, or the signal has aborted. */
  async take(metadata: Metadata, signal?: AbortSignal): Promise<TakenPlace | undefined> {
    const { store, prefix, leaseOptions, random, report } = this.#options
    const free: number[] = []
    let next = 0
    for await (const { place, isFree, isOther } of listPlaces(this.#options, this.#listing(signal))) {
      if (isFree && !isOther) free.push(place)
      next = Math.max(next, place + 1)
    }
    for (let attempt = 0; attempt < ATTEMPTS && signal?.aborted !== true; attempt += 1) {
      // Many may come at the same time: after each refusal, the choice is among twice as many places.
      const [place = next + Math.floor(random() * 2 ** attempt)] = free.splice(Math.floor(random() * free.length), 1)
      const lease = createLease(store, `${prefix}${place}`, leaseOptions)
      if (report !== undefined) lease.on('error', report)
      if (await lease.acquire({ metadata, ...(signal === undefined ? {} : { signal }) })) return { place, lease }
    }
    return undefined
  }

  #listing(signal: AbortSignal | undefined): StoreOperationOptions {
    const { clock, leaseOptions } = this.#options
    return { clock, timeout: leaseOptions.operationTimeout, signal }
  }
}

async function* listPlaces(
  { store, prefix, recipe }: Pick<PlacesOptions, 'store' | 'prefix' | 'recipe'>,
  options: StoreOperationOptions,
): AsyncGenerator<PlaceRecord> {
  for await (const record of listLeases(store, prefix, options)) {
    const place = record.name.slice(prefix.length)
    // The record of another recipe is no place.
    const isOther = ![undefined, recipe].includes(recipeOf(record.metadata))
    if (PLACE.test(place)) yield { place: Number(place), isFree: !isLocked(record), isOther, record }
  }
}

/** The places that are held, with their records. Rejects if the store does not answer. */
export async function* heldPlaces(
  of: Pick<PlacesOptions, 'store' | 'prefix' | 'recipe'>,
  options: StoreOperationOptions,
): AsyncGenerator<{ readonly place: number; readonly record: LeaseRecord }> {
  for await (const { place, isFree, isOther, record } of listPlaces(of, options)) {
    if (!isFree && !isOther) yield { place, record }
  }
}
