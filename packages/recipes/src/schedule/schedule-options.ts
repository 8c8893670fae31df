import {
  type CreateLeaseOptions,
  createLease,
  type LeaseStore,
  type StoreHeld,
  type StoreLease,
  TimeoutSettings,
} from '@leasehold/core'
import { checkFault, checkWork, faultOfDuration, faultOfFunction, faultOfPause, roomOf } from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { checkMetadataRoom } from '../metadata-room.js'
import { leaseOptionsOf, type StartedRecipeOptions, startedRecipeOptionNames } from '../recipe-options.js'
import type { RunRequest } from './control-record.js'
import { type ScheduledRun, toMetadata } from './schedule-record.js'
import { type TimetableOptions, wrong } from './timetable.js'

/** One tick, as the work gets it. */
export interface Tick extends StoreHeld {
  /** When it was due; if it was asked for by hand, when that was. */
  readonly due: Date
  /** The request of a run that was asked for by hand; `undefined` for a tick of the timetable. */
  readonly byHand: RunRequest | undefined
  /** Aborted when the lease is lost, after `atMostFor`, and by `stop()`. */
  readonly signal: AbortSignal
}

export type ScheduledWork = (tick: Tick) => unknown

/** The options of a `Schedule`: durations in milliseconds. */
export interface ScheduleOptions extends Omit<StartedRecipeOptions, 'maxHold'>, TimetableOptions {
  /** The work of each tick. */
  readonly work: ScheduledWork
  /** The longest time that one work may take. Then its signal is aborted. No limit unless given. */
  readonly atMostFor?: number | undefined
  /**
   * For how long the name stays held from the start of a work on, at least. 0 unless given. Shorter than `every`, and not
   * longer than `atMostFor`. Required where the store keeps no metadata: clocks may there differ by less than it.
   */
  readonly atLeastFor?: number | undefined
  /**
   * The fate of ticks for which no instance was there, or which an earlier work overran. `skip`, the default: they are not
   * run. `run-once`: the latest of them is run, late.
   */
  readonly missed?: 'skip' | 'run-once' | undefined
  /** The wall clock; the machine's unless given. For tests. */
  readonly now?: (() => Date) | undefined
}

/** The options that one run of a work needs. */
export type RunOptions = Pick<ScheduleOptions, 'work' | 'atMostFor' | 'atLeastFor'>

const { maxHold: _, ...leaseOptionNames } = startedRecipeOptionNames
const optionNames: OptionNames<ScheduleOptions> = {
  ...leaseOptionNames,
  cron: true,
  timeZone: true,
  every: true,
  anchor: true,
  work: true,
  atMostFor: true,
  atLeastFor: true,
  missed: true,
  now: true,
}

/** Throws a `LeaseConfigurationError` that says which option is invalid, except for those of the timetable. */
export function checkOptions(options: ScheduleOptions): void {
  const { name: leaseName, work, atMostFor, atLeastFor = 0, missed = 'skip', now, every } = options
  checkOptionNames('Schedule', options, optionNames, { leaseName })
  checkWork('Schedule: work', work, { leaseName })
  const durations =
    faultOfDuration('Schedule: atMostFor', atMostFor) ?? faultOfPause('Schedule: atLeastFor', atLeastFor)
  checkFault(faultOfFunction('Schedule: now', now) ?? durations, { leaseName })
  if (atMostFor !== undefined && atLeastFor > atMostFor) {
    throw wrong(
      `atLeastFor, ${atLeastFor} ms, must not be longer than atMostFor, ${atMostFor} ms: the name is free after that time`,
    )
  }
  if (every !== undefined && atLeastFor >= every) {
    throw wrong(
      `atLeastFor, ${atLeastFor} ms, must be shorter than every, ${every} ms: the name would be held at the next tick`,
    )
  }
  if (missed !== 'skip' && missed !== 'run-once') throw wrong(`missed must be skip or run-once, not ${String(missed)}`)
}

/** Whether the records of the store keep the ticks. Throws where the other options do not suit the answer. */
export function keepsTicks(store: LeaseStore, { settings }: StoreLease, options: ScheduleOptions): boolean {
  const { kind = 'custom' } = store
  if (store.update !== undefined && roomOf(store.limits) > 0) {
    checkRunsRoom('Schedule', store, settings.owner)
    return true
  }
  if (options.missed === 'run-once') {
    throw wrong(`the ${kind} store keeps no metadata, so missed ticks are not known: leave missed out`)
  }
  if (options.atLeastFor === undefined || options.atLeastFor === 0) {
    throw wrong(
      `the ${kind} store keeps no metadata: set atLeastFor to more than the clocks of the instances can differ, or use a ` +
        'store that keeps it',
    )
  }
  return false
}

/** Throws a `LeaseConfigurationError` unless the records of the store have room for the last runs of an owner. */
export function checkRunsRoom(recipe: string, store: LeaseStore, owner: string): void {
  const time = new Date(0).toISOString()
  const run: ScheduledRun = { due: time, owner, startedAt: time, outcome: 'interrupted', endedAt: time }
  const largest = toMetadata({ tick: 0, run, last: run }, Number.POSITIVE_INFINITY)
  checkMetadataRoom(recipe, store, largest, 'for its last runs')
}

/** The lease of the schedule. */
export function createScheduleLease(store: LeaseStore, options: ScheduleOptions): StoreLease {
  return createLease(store, options.name, runLeaseOptionsOf(options))
}

/** The options of a lease for runs. Its grants end some time after the work should have: a process that hangs does not keep it. */
export function runLeaseOptionsOf(options: CreateLeaseOptions & Pick<RunOptions, 'atMostFor'>): CreateLeaseOptions {
  const { atMostFor } = options
  const leaseOptions = leaseOptionsOf(options)
  if (atMostFor === undefined) return leaseOptions
  const { operationTimeout } = new TimeoutSettings(leaseOptions)
  return { ...leaseOptions, maxHold: atMostFor + 4 * operationTimeout }
}
