import {
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  type Metadata,
  type StoreOperationOptions,
} from '@leasehold/core'
import { checkMetadata, isThenable, roomOf } from '@leasehold/core/internal'
import { checkLeaseName, type LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { sizeOf } from '../metadata-room.js'
import { heldPlaces, placeIn } from '../places.js'
import type { Member } from './balance.js'
import { decodeShare, largestGroup } from './share.js'

export const RECIPE = 'partition-group'

/** A member of a partition group, as its record shows it. The record can be a little older than the leases. */
export interface GroupMember {
  /** The owner of its leases. */
  readonly owner: string
  /** As the member gave it, such as its address. */
  readonly metadata: Metadata
  /** The number of partitions in its options; 0 if its record has no valid number. */
  readonly partitions: number
  /** The partitions that it holds and keeps. In order, as the others. */
  readonly held: readonly number[]
  /** The partitions that it holds, and releases as soon as the work on them has ended. */
  readonly draining: readonly number[]
  /** The partitions that it asks for. */
  readonly claimed: readonly number[]
  /** It hands all of its partitions over, and takes no others. */
  readonly isLeaving: boolean
}

/** What a member shows beside its share: a value, or a function that returns it now. */
export type MemberMetadata = Metadata | (() => Metadata)

/** A member that was seen in the store, for the decision and for the users of the group. */
export interface SeenMember extends Member {
  readonly owner: string
  readonly metadata: Metadata
}

/** The beginning of the keys of a member's own metadata: the keys of the group have none. */
const OWN = 'member.'

/** The metadata of a member, as they stand in its record: no key is one of the group's. */
export function toRecord(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [OWN + key, value]))
}

/** The metadata that a member has given, from its record. */
function ownIn(metadata: Metadata): Metadata {
  const own = Object.entries(metadata).filter(([key]) => key.startsWith(OWN))
  return Object.freeze(Object.fromEntries(own.map(([key, value]) => [key.slice(OWN.length), value])))
}

const MEMBERS = '/members/'
const PARTITIONS = '/partitions/'

/** The beginning of the names of the members' leases. */
export function membersOf(group: string): string {
  return `${group}${MEMBERS}`
}

/** The name of the lease of a partition. */
export function partitionOf(group: string, partition: number): string {
  return `${group}${PARTITIONS}${partition}`
}

/** The group that a lease with this name can belong to, and what it is there; `undefined` if there is none. */
export function groupOf(
  name: string,
): { readonly group: string; readonly place: number; readonly isMember: boolean } | undefined {
  const { prefix = '', place = 0 } = placeIn(name) ?? {}
  const part = [MEMBERS, PARTITIONS].find((ending) => prefix.endsWith(ending))
  if (part === undefined) return undefined
  return { group: prefix.slice(0, -part.length), place, isMember: part === MEMBERS }
}

/** The member in a record. `otherwise`: its number of partitions, if the record has no possible one. */
export function seenMember(place: number, record: LeaseRecord, { limits }: LeaseStore, otherwise: number): SeenMember {
  const { owner, metadata } = record
  const number = /^[1-9]\d{0,8}$/.test(metadata.partitions ?? '') ? Number(metadata.partitions) : otherwise
  const partitions = number <= largestGroup(roomOf(limits)) ? number : otherwise
  const share = decodeShare(metadata.share, partitions)
  return { place, owner, partitions, isLeaving: metadata.leaving === 'true', share, metadata: ownIn(metadata) }
}

export function groupMember({ owner, metadata, partitions, isLeaving, share }: SeenMember): GroupMember {
  const sorted = (numbers: readonly number[]): readonly number[] => numbers.toSorted((one, other) => one - other)
  const [held, draining, claimed] = [sorted(share.held), sorted(share.draining), sorted(share.claimed)]
  return { owner, metadata, partitions, held, draining, claimed, isLeaving }
}

/** Throws a `LeaseConfigurationError` if a record has no room for both the metadata and the share of a member. */
export function checkMemberMetadata(
  metadata: unknown,
  partitions: number,
  { limits }: LeaseStore,
  details: LeaseErrorDetails,
): asserts metadata is Metadata {
  if (isThenable(metadata)) {
    throw new LeaseConfigurationError(
      'metadata must be an object of texts, not a promise: keep the value at hand',
      details,
    )
  }
  checkMetadata(metadata ?? null, details, Number.POSITIVE_INFINITY)
  const size = sizeOf(toRecord(metadata as Metadata))
  const largest = largestGroup(roomOf(limits) - size)
  if (partitions <= largest) return
  const message =
    `metadata takes ${size} bytes of a member's record, which leaves room for ${largest} partitions, not ${partitions}: ` +
    'show less, or form several groups'
  throw new LeaseConfigurationError(message, details)
}

const optionNames: OptionNames<StoreOperationOptions> = { timeout: true, signal: true, clock: true, keepAlive: true }

/**
 * The members of a partition group now, for operators and for processes that are no members: in the order of their places;
 * empty if nobody is there. Rejects with a typed error if the store cannot list leases, or cannot be read.
 */
export async function readPartitionGroup(
  store: LeaseStore,
  name: string,
  options: StoreOperationOptions = {},
): Promise<readonly GroupMember[]> {
  checkLeaseName(name)
  checkOptionNames('readPartitionGroup', options, optionNames)
  const seen: SeenMember[] = []
  for await (const { place, record } of heldPlaces({ store, prefix: membersOf(name), recipe: RECIPE }, options)) {
    seen.push(seenMember(place, record, store, 0))
  }
  return seen.toSorted((one, other) => one.place - other.place).map(groupMember)
}
