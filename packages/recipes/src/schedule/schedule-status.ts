import { isLocked, type LeaseRecord } from '@leasehold/core'
import {
  type ControlState,
  controlFrom,
  controlNameOf,
  firstAdmitted,
  isLater,
  pauseAt,
  type RunRequest,
  type SchedulePause,
} from './control-record.js'
import { endedRun, fromMetadata, type ScheduledRun } from './schedule-record.js'
import { type Timetable, timetableOf } from './timetable.js'

/** The state of a schedule, over all instances. */
export interface ScheduleStatus {
  /**
   * The next tick that can be run. `undefined` if there is none: also during a pause without an end, and where the timetable
   * is not known.
   */
  readonly next: Date | undefined
  /** The run in progress. */
  readonly running: ScheduledRun | undefined
  /** The last run that has ended. */
  readonly last: ScheduledRun | undefined
  /** The pause in force. */
  readonly paused: SchedulePause | undefined
  /** The ticks that will be skipped. */
  readonly skipped: readonly Date[]
  /** The runs that were asked for by hand and have not begun. */
  readonly requested: readonly RunRequest[]
  /** The timetable, as the instance has recorded it that ran the last tick. */
  readonly plan: string | undefined
}

/** The two records of a schedule. */
export interface ScheduleRecords {
  readonly record: LeaseRecord | undefined
  readonly control: LeaseRecord | undefined
}

/** The state that the records show. `table`: the timetable; that of the record unless given. */
export function statusOf(
  name: string,
  { record, control }: ScheduleRecords,
  now: number,
  table?: Timetable,
): ScheduleStatus {
  const { tick, request, run, last, plan } = fromMetadata(record?.metadata, { leaseName: name })
  const state = controlFrom(control?.metadata, { leaseName: controlNameOf(name) })
  const isRunning = isLocked(record) && run?.outcome === 'running' && run.owner === record?.owner
  const next = nextTick(table ?? timetableOf(plan, now), state, Math.max(now, tick ?? Number.NEGATIVE_INFINITY))
  return {
    next: next === undefined ? undefined : new Date(next),
    running: isRunning ? run : undefined,
    last: isRunning ? last : endedRun(run),
    paused: pauseAt(state, now),
    skipped: state.skipped.filter((skipped) => skipped > now).map((skipped) => new Date(skipped)),
    requested: state.requests.filter(({ id }) => isLater(id, request)),
    plan,
  }
}

function nextTick(table: Timetable | undefined, state: ControlState, after: number): number | undefined {
  const first = firstAdmitted(state)
  if (table === undefined || first === Number.POSITIVE_INFINITY) return undefined
  let tick = table.next(Math.max(after, first - 1))
  while (tick !== undefined && state.skipped.includes(tick)) tick = table.next(tick)
  return tick
}
