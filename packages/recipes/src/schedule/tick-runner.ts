import {
  type Clock,
  LeaseHeldError,
  LeaseLostError,
  LeaseTimeoutError,
  type StoreHeld,
  type StoreLease,
} from '@leasehold/core'
import { extendHeld } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { aborts } from '../first-abort.js'
import { endsWithin, pauseUntil } from '../waiting.js'
import { isLater, type RunRequest } from './control-record.js'
import type { RunOptions } from './schedule-options.js'
import {
  endedRun,
  fromMetadata,
  type ScheduledOutcome,
  type ScheduledRun,
  type ScheduleRecord,
  shownError,
  toMetadata,
} from './schedule-record.js'

/** A run to attempt: that of a tick, or one that was asked for by hand. */
export interface Job {
  /** The tick, or when the run was asked for: milliseconds since 1970. */
  readonly due: number
  readonly request?: RunRequest | undefined
  /** The tick became due during the run before. It is skipped if that run has ended. */
  readonly isOverrun?: boolean
}

/**
 * The fate of a job after an attempt. `refused`: another owner holds the name. `decided`: it was run or skipped before.
 * `withheld`: an operator does not want it. `skipped`: it was skipped now, because a run overran it. `ran`: its work was
 * started here.
 */
export type TickFate = 'refused' | 'decided' | 'withheld' | 'skipped' | 'ran'

interface Surroundings {
  readonly clock: Clock
  /** The wall clock, in milliseconds since 1970. */
  readonly wall: () => number
  /** How many bytes of metadata a record has room for; 0 where the store keeps none. */
  readonly room: number
  /** The plan of the timetable, for the record. */
  readonly plan: string
  readonly report: (error: unknown, message: string) => void
  /** Asks the store whether operators want the job now. */
  readonly isWanted: (job: Job) => Promise<boolean>
  /** The job was recorded, and its work starts. */
  readonly onStarted: (run: ScheduledRun) => void
  /** The work has ended. */
  readonly onEnded: (run: ScheduledRun) => void
}

interface Ended {
  readonly outcome: ScheduledOutcome
  readonly error?: unknown
}

/** Runs the work of single ticks under the lease of a schedule, and records them. */
export class TickRunner {
  readonly #lease: StoreLease
  readonly #options: RunOptions
  readonly #around: Surroundings
  /** Aborted when the work in progress is to end. */
  readonly #interrupted = new AbortableCall()
  /** How long work may go on after a stop, in milliseconds; `undefined` before. */
  #patience: number | undefined
  /** Aborted when the name need not be held any longer for `atLeastFor`. */
  readonly #leaving = new AbortableCall()

  constructor(lease: StoreLease, options: RunOptions, surroundings: Surroundings) {
    this.#lease = lease
    this.#options = options
    this.#around = surroundings
  }

  /**
   * Runs the job, unless the record says that it was decided, or operators do not want it. Rejects when the outcome is
   * unknown; the work was then not started.
   */
  async run(job: Job): Promise<TickFate> {
    let isStarted = false
    const begin = (): void => {
      isStarted = true
    }
    try {
      return await this.#lease.run((held) => this.#decide(held, job, begin))
    } catch (error) {
      if (error instanceof LeaseHeldError) return 'refused'
      if (!isStarted) throw error
      this.#around.report(error, `the run of ${textOf(job)} was interrupted`)
      return 'ran'
    }
  }

  /**
   * Ends the work in progress, if there is any: it may go on for `timeout` milliseconds. If the store keeps ticks, the name
   * is no longer held for `atLeastFor`.
   */
  interrupt(timeout: number): void {
    this.#patience = timeout
    this.#interrupted.abort()
    if (this.#around.room > 0) this.#leaving.abort()
  }

  async #decide(held: StoreHeld, job: Job, begin: () => void): Promise<TickFate> {
    const { clock, isWanted, onStarted, onEnded, report } = this.#around
    const { name: leaseName, owner } = this.#lease.settings
    const { due, request, isOverrun = false } = job
    const found = fromMetadata(this.#lease.previous, { leaseName, owner })
    if (isDecided(job, found)) return 'decided'
    // A run that the record still shows as running has died, so it did not overrun the tick.
    if (isOverrun && found.run?.outcome !== 'running') {
      await this.#record(held, { ...found, tick: due })
      return 'skipped'
    }
    if (!(await isWanted(job))) return 'withheld'
    const startedAt = clock.now()
    const byHand = request === undefined ? {} : { byHand: request }
    const run: ScheduledRun = { due: shown(due), ...byHand, owner, startedAt: this.#wallTime(), outcome: 'running' }
    const { tick, request: lastRequest } = found
    const marks = request === undefined ? { tick: due, request: lastRequest } : { tick, request: request.id }
    // Confirmed before the work starts: the job is then not run again, even if this process dies now.
    await this.#record(held, { ...marks, run, last: endedRun(found.run) })
    begin()
    onStarted(run)
    const { outcome, error } = await this.#work(held, job)
    if (error !== undefined) report(error, `the work of ${textOf(job)} failed`)
    const failure = error === undefined ? {} : { error: shownError(error) }
    const ended = { ...run, outcome, endedAt: this.#wallTime(), ...failure }
    onEnded(ended)
    await this.#record(held, { ...marks, run: ended })
    await this.#holdUntil(startedAt + (this.#options.atLeastFor ?? 0))
    return 'ran'
  }

  /** Rejects if the record was not written, or if that is unknown. */
  async #record({ signal }: StoreHeld, record: ScheduleRecord): Promise<void> {
    const { room, plan } = this.#around
    if (room === 0) return
    // A work may end after its grant was lost, and the lease may have been acquired for a later tick by then.
    if (!signal.aborted && (await this.#lease.update(toMetadata({ ...record, plan }, room)))) return
    const { name, owner } = this.#lease.settings
    const message = `schedule '${name}': the lease ended before the tick was recorded`
    throw new LeaseLostError(message, { leaseName: name, owner, reason: 'expired' })
  }

  /** Resolves when the work has ended, or some time after it was aborted. */
  async #work(held: StoreHeld, job: Job): Promise<Ended> {
    const { clock } = this.#around
    const { atMostFor = Number.POSITIVE_INFINITY, work } = this.#options
    const { signal } = held
    const ending = new AbortableCall()
    let outcome: ScheduledOutcome = 'interrupted'
    const cancels = [
      this.#interrupted.onAbort(() => ending.abort(this.#stopError())),
      clock.schedule(atMostFor, () => {
        outcome = 'timed-out'
        ending.abort(this.#lateError(job, atMostFor))
      }),
      aborts.add(signal, () => ending.abort(signal.reason)),
    ]
    try {
      if (ending.aborted) return { outcome }
      const { due, request } = job
      const tick = extendHeld(held, { due: new Date(due), byHand: request, signal: ending.signal })
      const settled = (async () => await work(tick))().then(
        (): Ended => ({ outcome: 'done' }),
        (error: unknown): Ended => ({ outcome: 'failed', error: error ?? new Error('rejected without an error') }),
      )
      const ended = await untilAborted(settled, ending).catch(() => undefined)
      if (ended !== undefined && !ending.aborted) return ended
      const patience = this.#patience ?? this.#lease.settings.timeouts.operationTimeout
      const late = (await endsWithin(clock, patience, settled)) ? await settled : undefined
      // Work that reaches its end after a stop counts as done.
      return outcome === 'interrupted' && late?.outcome === 'done' ? late : { outcome }
    } finally {
      for (const cancel of cancels) cancel()
    }
  }

  /** Keeps the name, so that an instance whose clock is slower finds it held when its tick is due. */
  async #holdUntil(instant: number): Promise<void> {
    const { clock } = this.#around
    const left = instant - clock.now()
    if (left > 0) await pauseUntil(clock, left, this.#leaving)
  }

  #wallTime(): string {
    return shown(this.#around.wall())
  }

  #stopError(): LeaseLostError {
    const { name, owner } = this.#lease.settings
    return new LeaseLostError(`schedule '${name}' was stopped`, { leaseName: name, owner, reason: 'closed' })
  }

  #lateError(job: Job, atMostFor: number): LeaseTimeoutError {
    const { name, owner } = this.#lease.settings
    const message = `schedule '${name}': the work of ${textOf(job)} took longer than atMostFor, ${atMostFor} ms`
    return new LeaseTimeoutError(message, { leaseName: name, owner })
  }
}

/** Whether the record says that no run of the job may start any more. */
export function isDecided({ due, request }: Job, found: ScheduleRecord): boolean {
  if (request !== undefined) return !isLater(request.id, found.request)
  // A tick is never run after a later one, whatever the clock of this machine says.
  return found.tick !== undefined && found.tick >= due
}

function textOf({ due, request }: Job): string {
  return request === undefined ? `the tick ${shown(due)}` : `the run ${request.id} by hand`
}

function shown(instant: number): string {
  return new Date(instant).toISOString()
}
