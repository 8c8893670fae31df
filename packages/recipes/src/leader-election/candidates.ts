import {
  type CreateLeaseOptions,
  isLocked,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseStore,
  listLeases,
  type Metadata,
} from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { Places, placeIn } from '../places.js'
import { ofRecipe } from '../record-kind.js'
import type { ObserverEnvironment } from './observe-leader.js'

/** A candidate that is ready to lead and waits for its turn. */
export interface Candidate {
  readonly owner: string
  /** As its `rank` was when it last advertised itself; the candidate with the largest one is the best. */
  readonly rank: number
}

/** A candidate with the grant id under which it waits: the leader hands its lease over to it. */
export interface ReadyCandidate extends Candidate {
  readonly grantId: string
  /** The name of its record. */
  readonly record: string
}

const RECIPE = 'leader-election'

/** The part of its ttl that the lease of a candidate must have left: with less, its heartbeats fail. */
const FRESH = 1 / 2

const CANDIDATES = '/candidates/'

/** The beginning of the names of the candidates' leases. */
function prefixOf(name: string): string {
  return `${name}${CANDIDATES}`
}

/** The election that the lease of a candidate belongs to; `undefined` if the record is that of no candidate. */
export function electionOf({ name, metadata }: LeaseRecord): string | undefined {
  if (metadata?.grantId === undefined || metadata.rank === undefined) return undefined
  const { prefix = '' } = placeIn(name) ?? {}
  return prefix.endsWith(CANDIDATES) ? prefix.slice(0, -CANDIDATES.length) : undefined
}

/** The places of the candidates. Failures of their heartbeats are reported. */
export function candidatePlaces(
  { store, name, clock, random, report }: ObserverEnvironment,
  leaseOptions: CreateLeaseOptions,
): Places {
  return new Places({ store, prefix: prefixOf(name), recipe: RECIPE, leaseOptions, clock, random, report })
}

/** The metadata of the lease of a candidate. */
export function toCandidateMetadata({ rank, grantId }: Pick<ReadyCandidate, 'rank' | 'grantId'>): Metadata {
  return ofRecipe(RECIPE, { rank: String(rank), grantId })
}

/** The candidate that the record shows; `undefined` if it is not ready any more. */
export function candidateOf(record: LeaseRecord): ReadyCandidate | undefined {
  const advertised = advertisedIn(record)
  if (advertised === undefined || !advertised.isReady) return undefined
  const { isReady: _, ...candidate } = advertised
  return candidate
}

/** The candidate whose lease is held, and whether it is ready: whether its heartbeats arrive. */
export function advertisedIn(record: LeaseRecord): (ReadyCandidate & { readonly isReady: boolean }) | undefined {
  const { name, owner, ttl, remaining, metadata } = record
  const { grantId, rank } = metadata ?? {}
  if (!isLocked(record) || owner === '') return undefined
  if (grantId === undefined || rank === undefined || !Number.isFinite(Number(rank))) return undefined
  const isReady = remaining === undefined || ttl === undefined || !Number.isFinite(ttl) || remaining >= ttl * FRESH
  return { owner, rank: Number(rank), grantId, record: name, isReady }
}

/** The order of candidates: the best first; those of the same rank in the order of their names. */
export function inOrder(one: Candidate, other: Candidate): number {
  return other.rank - one.rank || (one.owner < other.owner ? -1 : 1)
}

/** The candidates that are ready, the best first. */
export async function readyCandidates({
  store,
  name,
  timeouts,
  clock,
}: ObserverEnvironment): Promise<ReadyCandidate[]> {
  const ready: ReadyCandidate[] = []
  for await (const record of listLeases(store, prefixOf(name), { timeout: timeouts.operationTimeout, clock })) {
    const candidate = candidateOf(record)
    if (candidate !== undefined) ready.push(candidate)
  }
  return ready.sort(inOrder)
}

/** Throws a `LeaseConfigurationError` if the candidates of the store cannot be found, or the lease cannot be handed over. */
export function checkCanTransfer(store: LeaseStore, details: LeaseErrorDetails, childGrace?: unknown): void {
  const { kind = 'custom', change, list, limits } = store
  const lacks =
    change === undefined
      ? 'cannot hand leases over'
      : list === undefined
        ? 'cannot list leases'
        : limits.metadata === 0
          ? 'has no room for metadata'
          : undefined
  if (lacks !== undefined) {
    const message = `an election over the ${kind} store has no rank, preempt, advertise or transfer: the store ${lacks}`
    throw new LeaseConfigurationError(message, details)
  }
  if (childGrace === undefined) return
  const message =
    'an election with childGrace cannot transfer its leadership: the next leader would not wait for the children'
  throw new LeaseConfigurationError(message, details)
}
