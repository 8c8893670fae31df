import { type LeaseRecord, type LeaseStore, listLeases, type StoreOperationOptions } from '@leasehold/core'
import { checkOptionNames, type OptionNames, wallTime } from '@leasehold/core/store-kit'
import { recipeOf } from '../record-kind.js'
import { controlledBy } from './control-record.js'
import { type ScheduleRecords, type ScheduleStatus, statusOf } from './schedule-status.js'

/** A schedule of a store. */
export interface ListedSchedule extends ScheduleStatus {
  readonly name: string
}

/** The schedule that a record belongs to, with the record as the one or the other of its two; `undefined` if there is none. */
export function scheduleOf(record: LeaseRecord): (Partial<ScheduleRecords> & { readonly name: string }) | undefined {
  const recipe = recipeOf(record.metadata)
  if (recipe === 'schedule') return { name: record.name, record }
  const controlled = recipe === 'schedule-control' ? controlledBy(record.name) : undefined
  return controlled === undefined ? undefined : { name: controlled, control: record }
}

const optionNames: OptionNames<StoreOperationOptions> = { timeout: true, signal: true, clock: true, keepAlive: true }

/**
 * The schedules whose names begin with `prefix`, sorted by name: those that have run or skipped a tick, and those that an
 * operator has paused or run by hand. Rejects with a typed error if the store cannot list leases, or cannot be read.
 */
export async function listSchedules(
  store: LeaseStore,
  prefix = '',
  options: StoreOperationOptions = {},
): Promise<readonly ListedSchedule[]> {
  checkOptionNames('listSchedules', options, optionNames)
  const found = new Map<string, ScheduleRecords>()
  for await (const record of listLeases(store, prefix, options)) {
    const { name, ...part } = scheduleOf(record) ?? {}
    if (name !== undefined) found.set(name, { record: undefined, control: undefined, ...found.get(name), ...part })
  }
  const now = options.clock?.wall?.() ?? wallTime()
  return [...found]
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, records]) => ({ name, ...statusOf(name, records, now) }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
