import type { Metadata } from '@leasehold/core'
import { reasonOf } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { sizeOf } from '../metadata-room.js'
import { checkRecipe, ofRecipe } from '../record-kind.js'
import { isRequestId, parsed, type RunRequest, requestFrom } from './control-record.js'

/**
 * How a run of a schedule ended: `running` while it has not. `timed-out`: aborted after `atMostFor`. `interrupted`: its
 * process died, lost the lease, or was stopped.
 */
export type ScheduledOutcome = 'running' | 'done' | 'failed' | 'timed-out' | 'interrupted'

/** One run of the work of a schedule. Its times are ISO 8601 texts, by the wall clock of its owner. */
export interface ScheduledRun {
  /** The tick that it was for; if it was asked for by hand, when that was. */
  readonly due: string
  /** The request, if it was asked for by hand. */
  readonly byHand?: RunRequest
  readonly owner: string
  readonly startedAt: string
  readonly outcome: ScheduledOutcome
  readonly endedAt?: string
  /** The message of the error of the work, cut to 200 characters. */
  readonly error?: string
}

/** How many characters of an error a record keeps. */
const LONGEST_ERROR = 200

/** The facts about a schedule that the metadata of its record keeps. */
export interface ScheduleRecord {
  /** The last tick that was run, or skipped because a run overran it: no tick up to it is run any more. */
  readonly tick?: number | undefined
  /** The id of the last request by hand that was run: no request up to it is run any more. */
  readonly request?: string | undefined
  /** The run that was started last. */
  readonly run?: ScheduledRun | undefined
  /** The run before; only while `run` is running. */
  readonly last?: ScheduledRun | undefined
  /** When the schedule of the instance that wrote the record is due, as its timetable says it. */
  readonly plan?: string | undefined
}

/** The facts in the metadata of a record. Throws a `LeaseConfigurationError` if another recipe has written them. */
export function fromMetadata(metadata: Metadata | undefined, details: LeaseErrorDetails): ScheduleRecord {
  checkRecipe('schedule', metadata, details)
  const tick = Date.parse(metadata?.tick ?? '')
  return {
    tick: Number.isNaN(tick) ? undefined : tick,
    request: isRequestId(metadata?.request) ? metadata.request : undefined,
    run: runFrom(metadata?.run),
    last: runFrom(metadata?.last),
    plan: typeof metadata?.plan === 'string' ? metadata.plan : undefined,
  }
}

/**
 * The metadata of a record that has room for `room` bytes. If they do not fit, the errors of runs are left out, then the plan,
 * then those who asked for runs by hand, and then the run before.
 */
export function toMetadata(record: ScheduleRecord, room: number): Metadata {
  let metadata = metadataOf(record)
  let left = record
  for (const reduce of reductions) {
    if (sizeOf(metadata) <= room) break
    left = reduce(left)
    metadata = metadataOf(left)
  }
  return metadata
}

const reductions: readonly ((record: ScheduleRecord) => ScheduleRecord)[] = [
  (record) => ({ ...record, run: withoutError(record.run), last: withoutError(record.last) }),
  (record) => ({ ...record, plan: undefined }),
  (record) => ({ ...record, run: withoutAuthor(record.run), last: withoutAuthor(record.last) }),
  (record) => ({ ...record, last: undefined }),
]

function metadataOf({ tick, request, run, last, plan }: ScheduleRecord): Metadata {
  return ofRecipe('schedule', {
    ...(tick === undefined ? {} : { tick: new Date(tick).toISOString() }),
    ...(request === undefined ? {} : { request }),
    ...(run === undefined ? {} : { run: JSON.stringify(run) }),
    ...(last === undefined ? {} : { last: JSON.stringify(last) }),
    ...(plan === undefined ? {} : { plan }),
  })
}

function withoutError(run: ScheduledRun | undefined): ScheduledRun | undefined {
  if (run === undefined) return undefined
  const { error: _, ...others } = run
  return others
}

function withoutAuthor(run: ScheduledRun | undefined): ScheduledRun | undefined {
  return run?.byHand === undefined ? run : { ...run, byHand: { ...run.byHand, by: '' } }
}

/** The run as it is known once its lease is over: one that still looks running was interrupted. */
export function endedRun(run: ScheduledRun | undefined): ScheduledRun | undefined {
  return run?.outcome === 'running' ? { ...run, outcome: 'interrupted' } : run
}

/** The message of an error as a record keeps it. */
export function shownError(error: unknown): string {
  return reasonOf(error).slice(0, LONGEST_ERROR)
}

const outcomes: readonly unknown[] = [
  'running',
  'done',
  'failed',
  'timed-out',
  'interrupted',
] satisfies ScheduledOutcome[]

/** A text that is no run, because another program has written it, counts as none. */
function runFrom(text: unknown): ScheduledRun | undefined {
  const run = Object(parsed(text)) as Readonly<Record<keyof ScheduledRun, unknown>>
  const { due, owner, startedAt, outcome, endedAt, error } = run
  if (!isInstant(due) || !isInstant(startedAt) || typeof owner !== 'string' || !outcomes.includes(outcome)) {
    return undefined
  }
  const byHand = requestFrom(run.byHand)
  return {
    due,
    ...(byHand === undefined ? {} : { byHand }),
    owner,
    startedAt,
    outcome: outcome as ScheduledOutcome,
    ...(isInstant(endedAt) ? { endedAt } : {}),
    ...(typeof error === 'string' ? { error } : {}),
  }
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}
