import { LeaseConfigurationError, type LeaseRecord, type Metadata } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkRecipe, ofRecipe, recipeOf } from '../record-kind.js'

/** The use of the slots, and the key of their number in the record of the turnstile. */
export type SlotKind = 'permits' | 'readers'

/** The numbers in the record of a turnstile. */
export interface TurnstileRecord {
  /** How many slots may be held. */
  readonly count: number
  /** The number of the instance that came last with another number than the one before. */
  readonly made: number
  /** Slots from this number on are empty. It exceeds `count` while slots that a larger number left over may be held. */
  readonly slots: number
  /** The slot to try first. */
  readonly next: number
  /** Whether the last holder of the turnstile had to wait for a slot. */
  readonly isFull: boolean
  /** Names the last change of `count`: no two changes have the same. */
  readonly change?: string | undefined
}

/** The largest number of slots: each waiter watches all of them. */
const MOST_SLOTS = 100_000

const recipes = { permits: 'semaphore', readers: 'read-write-lease' } as const

const ownKeys: ReadonlySet<string> = new Set([
  'recipe',
  'permits',
  'readers',
  'made',
  'slots',
  'next',
  'full',
  'change',
  'stays',
] satisfies (SlotKind | keyof TurnstileRecord | 'recipe' | 'full' | 'stays')[])

/** Returns the number of slots. Throws a `LeaseConfigurationError` unless it is a whole number from 1 on. */
export function checkedCount(kind: SlotKind, count: unknown, leaseName: string): number {
  if (isCount(count)) return count
  const message = `${kind} must be a whole number from 1 to ${MOST_SLOTS}, not ${String(count)}`
  throw new LeaseConfigurationError(message, typeof leaseName === 'string' ? { leaseName } : {})
}

/** Throws a `LeaseConfigurationError` if metadata of the user have a key of the record. */
export function checkForeignKeys(metadata: Metadata | undefined, details: LeaseErrorDetails): void {
  const key = Object.keys(metadata ?? {}).find((name) => ownKeys.has(name))
  if (key === undefined) return
  const message = `the metadata of '${details.leaseName}' must not have the key '${key}', which its record uses: rename it`
  throw new LeaseConfigurationError(message, details)
}

/**
 * The record in the metadata of a turnstile. If they have no number of slots, the numbers in `given` count. Throws a
 * `LeaseConfigurationError` if the slots are used for something else, or a number is too large.
 */
export function fromMetadata(
  kind: SlotKind,
  left: Metadata,
  given: { readonly count: number; readonly made: number },
  details: LeaseErrorDetails,
): TurnstileRecord {
  const name = details.leaseName
  checkRecipe(recipes[kind], left, details)
  const numberIn = (key: string): number | undefined => {
    const number = wholeNumber(left[key])
    if (number === undefined || number <= MOST_SLOTS) return number
    const message =
      `the record of '${name}' was changed by another program: its '${key}' is ${left[key]}, and the most is ` +
      `${MOST_SLOTS}. Delete the record, or write the right number`
    throw new LeaseConfigurationError(message, details)
  }
  const count = Math.max(1, numberIn(kind) ?? given.count)
  const made = numberIn('made') ?? (left[kind] === undefined ? given.made : count)
  const slots = Math.max(count, numberIn('slots') ?? count)
  return { count, made, slots, next: (numberIn('next') ?? 0) % count, isFull: left.full === 'yes', change: left.change }
}

export function toMetadata(kind: SlotKind, { count, made, slots, next, isFull, change }: TurnstileRecord): Metadata {
  return ofRecipe(recipes[kind], {
    [kind]: String(count),
    made: String(made),
    slots: String(slots),
    next: String(next),
    ...(isFull ? { full: 'yes' } : {}),
    ...(change === undefined ? {} : { change }),
  })
}

/**
 * The turnstile that a record shows to those who only look; `undefined` if it is that of none, or has no valid number. Throws a
 * `LeaseConfigurationError` if another number is too large.
 */
export function turnstileIn({ name, metadata }: LeaseRecord): SeenTurnstile | undefined {
  const recipe = recipeOf(metadata)
  const kind = (Object.keys(recipes) as SlotKind[]).find((slots) => recipes[slots] === recipe)
  const count = kind === undefined ? undefined : countFrom(metadata[kind])
  if (kind === undefined || count === undefined) return undefined
  return { ...fromMetadata(kind, metadata, { count, made: count }, { leaseName: name }), recipe: recipes[kind] }
}

/** The turnstile of a recipe, as a record shows it. */
export interface SeenTurnstile extends TurnstileRecord {
  readonly recipe: (typeof recipes)[SlotKind]
}

/** The key with which a holder says that it stays in the turnstile. */
const STAYS = 'stays'

/** The metadata of a holder that stays in the turnstile, so that attempts without a wait give up at once. */
export function ofStaying(token: bigint | undefined, metadata: Metadata): Metadata {
  return { ...metadata, [STAYS]: String(token) }
}

/**
 * Whether the holder of a turnstile stays in it: it writes, or waits until it can. The others leave it when they have entered.
 * The mark of an earlier holder has another token.
 */
export function isStaying(record: Pick<LeaseRecord, 'metadata' | 'fencingToken'>): boolean {
  // A store of the user may answer with nonsense.
  return record.metadata?.[STAYS] === String(record.fencingToken)
}

/** Whether the holder of a turnstile writes, or waits until nobody reads; not if it waits for a slot. */
export function isWriting(record: Pick<LeaseRecord, 'metadata' | 'fencingToken'>): boolean {
  return isStaying(record) && record.metadata.full === undefined
}

/** The record with another number of slots. */
export function withCount(record: TurnstileRecord, count: number, change: string): TurnstileRecord {
  return { ...record, count, slots: Math.max(record.slots, count), next: 0, change }
}

/** The number of slots in a text; `undefined` if it has none that is valid. */
export function countFrom(text: string | undefined): number | undefined {
  const count = wholeNumber(text)
  return isCount(count) ? count : undefined
}

function isCount(count: unknown): count is number {
  return typeof count === 'number' && Number.isInteger(count) && count > 0 && count <= MOST_SLOTS
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
