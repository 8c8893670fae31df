import type { Grant, LeaseRecord, LeaseState, Metadata } from '@leasehold/core'
import { withBreakReason } from '@leasehold/core/sql-kit'
import type { RenewOutcome } from '@leasehold/core/store'
import { GRANTED_AGAIN } from '@leasehold/core/store-kit'

const RENEWED: RenewOutcome = Object.freeze({ renewed: true })

/** A row as a look finds it. */
export interface Row {
  readonly version: string
  readonly record: LeaseRecord
  /** Whether its lock is in force: nobody else may be granted the name. */
  readonly isLocked: boolean
  /** The state as it was written; an expiry writes nothing. */
  readonly isLeased: boolean
}

/** What one statement sees of a name. */
export interface Look {
  readonly isReadOnly: boolean
  /** Whether no open transaction keeps the row, as far as that was tried. */
  readonly isUnlocked: boolean
  /** The grant id of the first waiter that is alive. */
  readonly first: string | undefined
  readonly waiters: number
  /** How many waiters have not asked again in time, and still have rows. */
  readonly dead: number
  /** `undefined` for a name that has none. */
  readonly row: Row | undefined
}

/** Reads the answer of a look. */
export function lookOf(answer: string): Look {
  const [now = '', readOnly, unlocked, first = '', waiters, dead, ...record] = answer.split(',')
  const count = Number(waiters)
  return {
    isReadOnly: Number(readOnly) > 0,
    isUnlocked: unlocked === '1',
    first: textOf(first) ?? undefined,
    waiters: count,
    dead: Number(dead),
    row: record.length === 0 ? undefined : rowOf(record, BigInt(now), count),
  }
}

function rowOf(fields: readonly string[], now: bigint, waiters: number): Row {
  const [version = '', written, grantId = '', owner = '', token = '', ttl, until = '', metadata = '', ...rest] = fields
  const [reason = '-', left = '-', leftReason = '-', grantedAt, renewals, name = ''] = rest
  const remaining = until === 'endless' ? Number.POSITIVE_INFINITY : Number(BigInt(until) - now) / 1_000
  const isLocked = remaining > 0
  const previous = textOf(left)
  const record: LeaseRecord = {
    name: textOf(name) ?? '',
    owner: textOf(owner) ?? '',
    grantId: textOf(grantId) ?? '',
    fencingToken: BigInt(token),
    ttl: ttl === '-' ? Number.POSITIVE_INFINITY : Number(ttl),
    state: isLocked ? (written as LeaseState) : stateAfter(written as LeaseState),
    metadata: metadataOf(textOf(metadata), textOf(reason)),
    ...(isLocked && previous !== null && { previous: metadataOf(previous, textOf(leftReason)) }),
    ...(isLocked && { remaining: Math.ceil(remaining) }),
    grantedAt: Math.floor(Number(grantedAt) / 1_000),
    renewals: Number(renewals),
    waiters,
  }
  return { version, record, isLocked, isLeased: written === 'leased' }
}

/** The state of a row whose lock has ended. */
function stateAfter(written: LeaseState): LeaseState {
  if (written === 'leased') return 'expired'
  return written === 'breaking' ? 'broken' : written
}

function textOf(hex: string): string | null {
  return hex === '-' ? null : Buffer.from(hex, 'hex').toString()
}

function metadataOf(json: string | null, reason: string | null): Metadata {
  return withBreakReason(JSON.parse(json ?? '{}') as Metadata, reason)
}

/** The record of the holder of a name, for outcomes. */
export function holderOf(row: Row | undefined): { holder?: LeaseRecord } {
  if (row?.isLocked !== true) return {}
  const { waiters: _, ...holder } = row.record
  return { holder }
}

/** The outcome of a renewal, by the row as it is after the statement. */
export function renewOutcome({ grantId, fencingToken }: Grant, row: Row | undefined): RenewOutcome {
  if (row === undefined) return { renewed: false, reason: 'deleted' }
  const { record, isLeased } = row
  if (record.grantId !== grantId) return { renewed: false, reason: 'taken', ...holderOf(row) }
  if (isLeased) return record.fencingToken > fencingToken ? GRANTED_AGAIN : RENEWED
  const isBroken = record.state === 'breaking' || record.state === 'broken'
  return isBroken ? { renewed: false, reason: 'broken', ...holderOf(row) } : { renewed: false, reason: 'expired' }
}
