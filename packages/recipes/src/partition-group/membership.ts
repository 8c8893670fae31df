import {
  type Clock,
  type CreateLeaseOptions,
  createLease,
  type Health,
  healthOf,
  isLocked,
  type LeaseStore,
  listLeases,
} from '@leasehold/core'
import { roomOf } from '@leasehold/core/internal'
import { ofRecipe, recipeOf } from '../record-kind.js'
import type { Member } from './balance.js'
import { decodeShare, encodeShare, largestGroup, type Share } from './share.js'

/** How many places a worker tries in one round until it finds a free one. */
const ATTEMPTS = 8

const RECIPE = 'partition-group'

/** The record of a member, at its place in the group. */
interface MemberRecord {
  readonly place: number
  readonly isFree: boolean
  readonly isOther: boolean
  readonly metadata: Record<string, string>
}

export interface MembershipOptions {
  readonly store: LeaseStore
  /** The name of the group. */
  readonly name: string
  readonly partitions: number
  readonly leaseOptions: CreateLeaseOptions
  readonly clock: Clock
  readonly random: () => number
}

/**
 * The place of a worker among the members of its group. Places are leases with numbers as names, so that there are about as
 * many records as there ever were members at a time. The record of a place shows the share of its member.
 */
export class Membership {
  readonly #options: MembershipOptions
  readonly #prefix: string
  #lease: ReturnType<typeof createLease> | undefined
  #place = -1
  /** The metadata that was written last, as text. */
  #written = ''

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#prefix = `${options.name}/members/`
  }

  /** The number of this worker's place; -1 before it has one. */
  get place(): number {
    return this.#place
  }

  /** Whether this worker is a member now. */
  get isMember(): boolean {
    return this.#lease?.checkLease() === true
  }

  get health(): Health | undefined {
    return this.#lease && healthOf(this.#lease)
  }

  /** Takes a free place. Resolves with whether this worker is a member now. */
  async join(share: Share, signal: AbortSignal): Promise<boolean> {
    const { store, leaseOptions, random } = this.#options
    const free: number[] = []
    let next = 0
    for await (const { place, isFree, isOther } of this.#places(signal)) {
      if (isFree && !isOther) free.push(place)
      next = Math.max(next, place + 1)
    }
    for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt += 1) {
      // Many may join at the same time: after each refusal, the choice is among twice as many places.
      const [place = next + Math.floor(random() * 2 ** attempt)] = free.splice(Math.floor(random() * free.length), 1)
      const lease = createLease(store, `${this.#prefix}${place}`, leaseOptions)
      const metadata = this.#metadataOf(share, false)
      if (!(await lease.acquire({ metadata, signal }))) continue
      this.#lease = lease
      this.#place = place
      this.#written = JSON.stringify(metadata)
      return true
    }
    return false
  }

  /** The members of the group but this one, as their records show them. */
  async others(signal: AbortSignal): Promise<readonly Member[]> {
    const members: Member[] = []
    for await (const { place, isFree, isOther, metadata } of this.#places(signal)) {
      if (isFree || isOther || place === this.#place) continue
      const partitions = this.#numberIn(metadata.partitions)
      const share = decodeShare(metadata.share, partitions)
      members.push({ place, partitions, isLeaving: metadata.leaving === 'true', share })
    }
    return members
  }

  /** Shows a share in this worker's record. Rejects if the store refuses it. */
  async show(share: Share, isLeaving: boolean): Promise<void> {
    const metadata = this.#metadataOf(share, isLeaving)
    const text = JSON.stringify(metadata)
    if (text === this.#written || this.#lease === undefined) return
    this.#written = text
    let isWritten = false
    try {
      isWritten = await this.#lease.update(metadata)
    } finally {
      if (!isWritten && this.#written === text) this.#written = ''
    }
  }

  /** Gives the place up. */
  async leave(): Promise<void> {
    await this.#lease?.release()
  }

  #metadataOf(share: Share, isLeaving: boolean): Record<string, string> {
    const { partitions } = this.#options
    const metadata = ofRecipe(RECIPE, { partitions: String(partitions), share: encodeShare(share, partitions) })
    return isLeaving ? { ...metadata, leaving: 'true' } : metadata
  }

  /** The number of partitions in the record of a member; our own if the record has no possible number. */
  #numberIn(text: string | undefined): number {
    const { store, partitions } = this.#options
    const number = /^[1-9]\d{0,8}$/.test(text ?? '') ? Number(text) : partitions
    return number <= largestGroup(roomOf(store.limits)) ? number : partitions
  }

  async *#places(signal: AbortSignal): AsyncGenerator<MemberRecord> {
    const { store, clock, leaseOptions } = this.#options
    const options = { clock, signal, timeout: leaseOptions.operationTimeout }
    for await (const record of listLeases(store, this.#prefix, options)) {
      const { name, metadata } = record
      const place = name.slice(this.#prefix.length)
      // The record of another recipe is no place.
      const isOther = recipeOf(metadata) !== undefined && recipeOf(metadata) !== RECIPE
      const isFree = !isLocked(record)
      if (/^\d{1,9}$/.test(place)) yield { place: Number(place), isFree, isOther, metadata }
    }
  }
}
