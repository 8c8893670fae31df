import { publishers, tracers } from '../channels/channels.js'
import type { AcquireMessage, AcquireResult, GrantOrigin, LeaseMessage, RunMessage } from '../channels/messages.js'
import type { GrantEffect } from '../engine/grant-effect.js'
import { LeaseError, type LeaseErrorCode } from '../errors/lease-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import type { AcquireOptions } from '../lease/acquire-options.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { LeaseStore } from '../store/lease-store.js'

/** A lease whose changes are published. */
export interface PublishedLease {
  readonly settings: LeaseSettings
  readonly store: LeaseStore
  readonly remaining: number
  readonly fencingToken: bigint | undefined
}

/** The grant that a lease has, or had last, as it was published. */
export interface PublishedGrant {
  readonly fencingToken: bigint
  /** When it began, on the clock of the lease. */
  readonly since: number
}

/**
 * Publishes a change of the grant of a lease, if anyone listens to its channel. `known`: the grant, if anyone listened when it
 * was acquired. Returns the grant that is known from now on.
 */
export function publishGrant(
  lease: PublishedLease,
  effect: GrantEffect,
  known: PublishedGrant | undefined,
  engine: { readonly now: number; readonly origin: GrantOrigin },
): PublishedGrant | undefined {
  const { now } = engine
  switch (effect.type) {
    case 'granted':
      return publishAcquired(lease, effect, engine)
    case 'renewed': {
      if (!publishers.renewed.isOn) return known
      const { latency: duration, validUntil } = effect
      const { fencingToken, ttl } = effect.grant
      const remaining = Math.max(0, validUntil - now)
      const margin = ttl === Number.POSITIVE_INFINITY ? 1 : remaining / ttl
      const { leaseName, owner, store } = leaseMessage(lease)
      const facts = { leaseName, owner, store, lease, fencingToken, duration, remaining, ttl, margin }
      publishers.renewed.publish(facts)
      return known
    }
    case 'recovered': {
      if (!publishers.recovered.isOn) return known
      const { fencingToken } = effect.grant
      publishers.recovered.publish({ ...leaseMessage(lease), fencingToken, remaining: lease.remaining })
      return known
    }
    case 'jeopardy': {
      if (!effect.begins || !publishers.jeopardy.isOn) return known
      const { fencingToken, remaining } = lease
      publishers.jeopardy.publish({ ...leaseMessage(lease), fencingToken, cause: effect.cause, remaining })
      return known
    }
    case 'lost': {
      if (!publishers.lost.isOn) return undefined
      const { lost } = effect
      const { fencingToken } = effect.grant
      const { reason } = lost
      publishers.lost.publish({ ...leaseMessage(lease), fencingToken, reason, lost, held: heldFor(known, now) })
      return undefined
    }
    case 'released': {
      if (!publishers.released.isOn) return undefined
      const { ended } = effect.result
      const end = ended === 'unknown' || ended === 'handed-off' ? ended : 'released'
      const fencingToken = known?.fencingToken
      const held = heldFor(known, now)
      const { leaseName, owner, store } = leaseMessage(lease)
      publishers.released.publish({ leaseName, owner, store, lease, fencingToken, end, held })
      return undefined
    }
    default:
      return known
  }
}

/** The fields of every message about a lease. */
function leaseMessage(lease: PublishedLease): LeaseMessage {
  const { name: leaseName, owner } = lease.settings
  return { leaseName, owner, store: lease.store.kind ?? 'custom', lease }
}

/** Lets a claim tell its channels of its begin and its end, if anyone listens. */
export async function publishClaim(
  lease: PublishedLease,
  { wait = 0, signal }: AcquireOptions,
  claim: () => Promise<boolean>,
): Promise<boolean> {
  const isWaiting = wait !== 0 && publishers.waiting.isOn
  if (isWaiting) publishers.waiting.publish({ ...leaseMessage(lease), waiting: true })
  try {
    if (!tracers.acquire.isOn) return await claim()
    const { leaseName, owner, store } = leaseMessage(lease)
    const context: AcquireMessage = { leaseName, owner, store, lease, wait }
    return await tracers.acquire.trace(context, async () => {
      try {
        const isGranted = await claim()
        context.outcome = isGranted ? 'granted' : wait === 0 ? 'held' : 'timeout'
        context.fencingToken = isGranted ? lease.fencingToken : undefined
        return isGranted
      } catch (error) {
        context.outcome = resultOf(error, signal)
        throw error
      }
    })
  } finally {
    if (isWaiting) publishers.waiting.publish({ ...leaseMessage(lease), waiting: false })
  }
}

/** Whether anyone listens to what `publishClaim` publishes. */
export function isClaimPublished(): boolean {
  return tracers.acquire.isOn || publishers.waiting.isOn
}

/** Does the work of a run within its tracing channel. */
export async function publishRun<T>(lease: PublishedLease, work: () => Promise<T>): Promise<T> {
  const { leaseName, owner, store } = leaseMessage(lease)
  const context: RunMessage = { leaseName, owner, store, lease, fencingToken: lease.fencingToken }
  return await tracers.run.trace(context, async () => {
    try {
      const result = await work()
      context.outcome = 'done'
      return result
    } catch (error) {
      context.outcome = error instanceof LeaseLostError ? 'lost' : 'failed'
      throw error
    }
  })
}

function publishAcquired(
  lease: PublishedLease,
  { grant, previous, callers }: Extract<GrantEffect, { type: 'granted' }>,
  engine: { readonly now: number; readonly origin: GrantOrigin },
): PublishedGrant | undefined {
  const { fencingToken, grantId, ttl } = grant
  if (publishers.acquired.isOn) {
    const metadata = callers.find(({ options }) => options.metadata !== undefined)?.options.metadata
    const { from, vacancy } = engine.origin
    const { leaseName, owner, store } = leaseMessage(lease)
    // Not spread: V8 takes several times as long for an object that is made of others.
    const facts = { leaseName, owner, store, lease, from, vacancy, fencingToken, grantId, ttl, metadata, previous }
    publishers.acquired.publish(facts)
  }
  return publishers.lost.isOn || publishers.released.isOn ? { fencingToken, since: engine.now } : undefined
}

function heldFor(known: PublishedGrant | undefined, now: number): number | undefined {
  return known === undefined ? undefined : now - known.since
}

function resultOf(error: unknown, signal: AbortSignal | undefined): AcquireResult {
  if (signal?.aborted === true && error === signal.reason) return 'cancelled'
  return error instanceof LeaseError && UNKNOWN.has(error.code) ? 'unknown' : 'failed'
}

/** After these failures, the store may have granted the lease. */
const UNKNOWN: ReadonlySet<LeaseErrorCode> = new Set(['timeout', 'unavailable'])
