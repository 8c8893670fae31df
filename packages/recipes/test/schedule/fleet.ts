import { type LeaseStore, type Logger, MemoryLeaseStore } from '@leasehold/core'
import { Schedule, ScheduleControl, type ScheduleOptions, type Tick } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore, VirtualClock, VirtualTime } from '@leasehold/testkit'
import { expect, onTestFinished } from 'vitest'

export const HOUR = 3_600_000
export const MINUTE = 60_000

/** A store that keeps no metadata. */
export function withoutMetadata(clock: VirtualClock): LeaseStore {
  const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock })
  return Object.assign(store, { limits: { ...store.limits, metadata: 0 } })
}

/** Machines of one time, and the instances of a schedule on them. */
export class Fleet {
  readonly time = new VirtualTime()
  readonly server = new VirtualClock({ time: this.time })
  readonly ticks: { readonly minute: number; readonly owner: string }[] = []
  readonly errors: string[] = []

  /** Starts an instance whose wall clock is ahead by `skew` milliseconds. */
  start(
    store: LeaseStore,
    options: Partial<ScheduleOptions> = {},
    skew = 0,
  ): { schedule: Schedule; machine: VirtualClock } {
    const machine = new VirtualClock({ time: this.time, skew })
    const { work = () => undefined } = options
    const owner = options.owner ?? `skew ${skew / MINUTE}`
    const log = (message: string, details: unknown): void => void this.errors.push(`${message}: ${details}`)
    const logger: Logger = { ...silentLogger, warn: log, error: log }
    const schedule = new Schedule(store, {
      name: 'report',
      owner,
      clock: machine,
      now: () => new Date(machine.wall()),
      logger,
      ...(options.cron === undefined ? { every: 10 * MINUTE } : {}),
      ...options,
      work: (tick: Tick) => {
        this.ticks.push({ minute: (tick.due.getTime() - Date.UTC(2026, 0, 1)) / MINUTE, owner })
        return work(tick)
      },
    })
    schedule.start()
    onTestFinished(async () => {
      const stopped = schedule.stop()
      await this.time.advance(HOUR)
      await stopped
    })
    return { schedule, machine }
  }

  get minutes(): number[] {
    return this.ticks.map(({ minute }) => minute)
  }
}

/** A minute of the fleets. */
export const instant = (minute: number): Date => new Date(Date.UTC(2026, 0, 1) + minute * MINUTE)

/** A fleet on a store in memory, and an operator beside it. `store`: that of the operator, if it is another one. */
export function createPlace(store?: (memory: MemoryLeaseStore, fleet: Fleet) => LeaseStore) {
  const fleet = new Fleet()
  const memory = new MemoryLeaseStore({ clock: fleet.server })
  const asked = store?.(memory, fleet) ?? memory
  const options = { owner: 'ada', clock: fleet.server, now: () => new Date(fleet.server.wall()), logger: silentLogger }
  const control = new ScheduleControl(asked, 'report', options)
  /** Waits for something that takes virtual time. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    promise.then(end, end)
    expect(await fleet.time.advanceUntil(() => isOver, 10 * MINUTE)).toBe(true)
    return await promise
  }
  return { fleet, memory, control, settled }
}
