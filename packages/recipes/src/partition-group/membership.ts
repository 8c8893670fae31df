import {
  type Clock,
  type CreateLeaseOptions,
  type Health,
  healthOf,
  type LeaseStore,
  type Metadata,
  type StoreLease,
} from '@leasehold/core'
import { Places } from '../places.js'
import { ofRecipe } from '../record-kind.js'
import { membersOf, RECIPE, type SeenMember, seenMember, toRecord } from './group-member.js'
import { encodeShare, type Share } from './share.js'

export interface MembershipOptions {
  readonly store: LeaseStore
  /** The name of the group. */
  readonly name: string
  readonly partitions: number
  readonly leaseOptions: CreateLeaseOptions
  readonly clock: Clock
  readonly random: () => number
  /** The member's own metadata now. */
  readonly metadata: () => Metadata
}

/** The place of a worker among the members of its group. The record of a place shows the share of its member. */
export class Membership {
  readonly #options: MembershipOptions
  readonly #places: Places
  #lease: StoreLease | undefined
  #place = -1
  /** The metadata that was sent last, and that of the last write that was confirmed, as texts. */
  #written = ''
  #confirmed = ''

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#places = new Places({ ...options, prefix: membersOf(options.name), recipe: RECIPE })
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
    const metadata = this.#metadataOf(share, false)
    const taken = await this.#places.take(metadata, signal)
    if (taken === undefined) return false
    this.#lease = taken.lease
    this.#place = taken.place
    this.#written = textOf(metadata)
    this.#confirmed = this.#written
    return true
  }

  /**
   * The members of the group but this one, as their records show them. A late duplicate of an earlier write may have put an
   * older share into this worker's record: then the next `show` writes it again.
   */
  async others(signal: AbortSignal): Promise<readonly SeenMember[]> {
    const { store, partitions } = this.#options
    const members: SeenMember[] = []
    const shown = this.#confirmed
    for await (const { place, record } of this.#places.held(signal)) {
      if (place !== this.#place) members.push(seenMember(place, record, store, partitions))
      else if (this.#written === shown && textOf(record.metadata) !== shown) this.#written = ''
    }
    return members
  }

  /** Shows a share in this worker's record. Rejects if the store refuses it. */
  async show(share: Share, isLeaving: boolean): Promise<void> {
    const metadata = this.#metadataOf(share, isLeaving)
    const text = textOf(metadata)
    if (text === this.#written || this.#lease === undefined) return
    this.#written = text
    let isWritten = false
    try {
      isWritten = await this.#lease.update(metadata)
      if (isWritten) this.#confirmed = text
    } finally {
      if (!isWritten && this.#written === text) this.#written = ''
    }
  }

  /** Gives the place up. */
  async leave(): Promise<void> {
    await this.#lease?.release()
  }

  #metadataOf(share: Share, isLeaving: boolean): Metadata {
    const { partitions, metadata } = this.#options
    return ofRecipe(RECIPE, {
      partitions: String(partitions),
      share: encodeShare(share, partitions),
      ...(isLeaving ? { leaving: 'true' } : {}),
      ...toRecord(metadata()),
    })
  }
}

/** Metadata as a text that does not depend on the order of its keys: some stores do not keep it. */
function textOf(metadata: Metadata): string {
  return JSON.stringify(Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1)))
}
