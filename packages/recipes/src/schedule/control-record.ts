import { LeaseConflictError, type Metadata } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { sizeOf } from '../metadata-room.js'
import { checkRecipe, ofRecipe } from '../record-kind.js'

/** A pause of a schedule. Its times are ISO 8601 texts, by the wall clocks of those who paused it. */
export interface SchedulePause {
  /** The operator or process that paused it. */
  readonly by: string
  readonly at: string
  readonly reason: string
  /** When the schedule resumes by itself; never unless given. */
  readonly until?: string
}

/** A run that was asked for by hand. */
export interface RunRequest {
  /** A number as a text. Later requests for the same schedule have larger ones. */
  readonly id: string
  /** The operator or process that asked for it. */
  readonly by: string
  /** When it was asked for: an ISO 8601 text. */
  readonly at: string
}

/** The wishes of operators about a schedule, as the record beside its own keeps them. */
export interface ControlState {
  readonly paused?: SchedulePause | undefined
  /** The end of the last pause that an operator ended, in milliseconds since 1970. */
  readonly resumedAt?: number | undefined
  /** The ticks to skip, in milliseconds since 1970, in their order. */
  readonly skipped: readonly number[]
  /** The runs that were asked for, in the order of their ids. Those that were run may still be among them. */
  readonly requests: readonly RunRequest[]
}

const SUFFIX = '/control'

/** A record has room for this many ticks to skip, and for this many runs by hand that have not begun. */
export const MOST_SKIPPED = 10
export const MOST_REQUESTS = 5

/** The lease name of the record that keeps the wishes of operators: the schedule's own is held while a run is under way. */
export function controlNameOf(scheduleName: string): string {
  return `${scheduleName}${SUFFIX}`
}

/** The name of the schedule that a record with this name controls; `undefined` if it is the name of no such record. */
export function controlledBy(controlName: string): string | undefined {
  return controlName.endsWith(SUFFIX) ? controlName.slice(0, -SUFFIX.length) : undefined
}

/** The wishes in the metadata of a record. Throws a `LeaseConfigurationError` if another recipe has written them. */
export function controlFrom(metadata: Metadata | undefined, details: LeaseErrorDetails): ControlState {
  checkRecipe('schedule-control', metadata, details)
  const resumedAt = Date.parse(metadata?.resumedAt ?? '')
  return {
    paused: pauseFrom(parsed(metadata?.paused)),
    resumedAt: Number.isNaN(resumedAt) ? undefined : resumedAt,
    skipped: listIn(metadata?.skipped, (text) => {
      const tick = typeof text === 'string' ? Date.parse(text) : Number.NaN
      return Number.isNaN(tick) ? undefined : tick
    }),
    requests: listIn(metadata?.requests, requestFrom).toSorted((one, other) => (isLater(one.id, other.id) ? 1 : -1)),
  }
}

/** The metadata of the wishes. Throws a `LeaseConflictError` if a record with `room` bytes has no room for them. */
export function controlMetadata(state: ControlState, room: number, details: LeaseErrorDetails): Metadata {
  const { paused, resumedAt, skipped, requests } = state
  const metadata = ofRecipe('schedule-control', {
    ...(paused === undefined ? {} : { paused: JSON.stringify(paused) }),
    ...(resumedAt === undefined ? {} : { resumedAt: new Date(resumedAt).toISOString() }),
    ...(skipped.length === 0 ? {} : { skipped: JSON.stringify(skipped.map((tick) => new Date(tick).toISOString())) }),
    ...(requests.length === 0 ? {} : { requests: JSON.stringify(requests) }),
  })
  if (sizeOf(metadata) <= room) return metadata
  throw new LeaseConflictError(
    `the record '${details.leaseName}' has room for ${room} bytes, and the change needs ${sizeOf(metadata)}: give a shorter ` +
      'reason, or wait until runs by hand have begun',
    details,
  )
}

/** Whether the wishes let a tick be run. The pause is over for the ticks from its end on. */
export function admitsTick({ paused, resumedAt, skipped }: ControlState, due: number): boolean {
  return due >= firstAdmitted({ paused, resumedAt }) && !skipped.includes(due)
}

/** The instant from which on ticks are run, unless they are skipped; `Infinity` while a pause has no end. */
export function firstAdmitted({ paused, resumedAt = -Infinity }: Pick<ControlState, 'paused' | 'resumedAt'>): number {
  return paused === undefined ? resumedAt : Math.max(endOf(paused), resumedAt)
}

/** The pause that is in force at an instant, if there is one. */
export function pauseAt({ paused }: Pick<ControlState, 'paused'>, now: number): SchedulePause | undefined {
  return paused === undefined || now >= endOf(paused) ? undefined : paused
}

/** Whether the id of one request is larger than that of another. Nothing is older than every request. */
export function isLater(id: string, other: string | undefined): boolean {
  return other === undefined || BigInt(id) > BigInt(other)
}

/** Whether a text can be the id of a request. */
export function isRequestId(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,40}$/.test(text)
}

/** Whether there is a wish that must not be forgotten. */
export function hasWishes({ paused, skipped, requests }: ControlState): boolean {
  return paused !== undefined || skipped.length > 0 || requests.length > 0
}

function endOf({ until }: SchedulePause): number {
  return until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
}

/** A text that another program has written counts as nothing. */
export function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

function listIn<T>(text: unknown, read: (value: unknown) => T | undefined): readonly T[] {
  const list = parsed(text)
  return Array.isArray(list) ? list.flatMap((value) => read(value) ?? []) : []
}

function pauseFrom(value: unknown): SchedulePause | undefined {
  const { by, at, reason, until } = Object(value) as Readonly<Record<string, unknown>>
  if (typeof by !== 'string' || typeof at !== 'string' || typeof reason !== 'string') return undefined
  const hasEnd = typeof until === 'string' && !Number.isNaN(Date.parse(until))
  return { by, at, reason, ...(hasEnd ? { until } : {}) }
}

/** The request that a value is. Also for the runs in the record of a schedule. */
export function requestFrom(value: unknown): RunRequest | undefined {
  const { id, by, at } = Object(value) as Readonly<Record<string, unknown>>
  if (!isRequestId(id) || typeof by !== 'string' || typeof at !== 'string') return undefined
  return Number.isNaN(Date.parse(at)) ? undefined : { id, by, at }
}
