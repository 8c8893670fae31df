import type { Clock } from '@leasehold/core'
import type { Alarm } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { backoff } from '@leasehold/core/store-kit'
import type { StoreOutage } from '../store-outage.js'
import { pauseUntil } from '../waiting.js'
import {
  admitsTick,
  type ControlState,
  hasWishes,
  isLater,
  pauseAt,
  type RunRequest,
  type SchedulePause,
} from './control-record.js'
import type { ScheduleControl } from './schedule-control.js'
import type { Job } from './tick-runner.js'

/** The longest time between two looks, in milliseconds. */
const LONGEST_LOOK = 30_000

/** After this time in milliseconds, wishes are written again: a store may forget a record that nobody writes. */
const REMEMBERED = 3_600_000

interface Surroundings {
  /** `undefined` where the store keeps no metadata: then nobody has wishes. */
  readonly control: ScheduleControl | undefined
  readonly clock: Clock
  readonly random: () => number
  /** The wall clock, in milliseconds since 1970. */
  readonly wall: () => number
  readonly keepAlive: boolean
  readonly outage: StoreOutage
  /** Rings when a run by hand is to be attempted. */
  readonly alarm: Alarm
  /** Another pause is in force, or none any more. */
  readonly onPause: (pause: SchedulePause | undefined) => void
}

/** The wishes of operators, as an instance of a schedule sees them. */
export class Wishes {
  readonly #around: Surroundings
  #state: ControlState = { skipped: [], requests: [] }
  #pause: SchedulePause | undefined
  /** The last request that is known to be run. */
  #lastRequest: string | undefined
  #isDown = false
  /** When they were written last by this instance, on its clock. */
  #rememberedAt: number
  #tidying: Promise<void> = Promise.resolve()

  constructor(surroundings: Surroundings) {
    this.#around = surroundings
    this.#rememberedAt = surroundings.clock.now()
  }

  /** The requests that may have to be run. */
  get requests(): readonly RunRequest[] {
    return this.#state.requests.filter(({ id }) => isLater(id, this.#lastRequest))
  }

  /** Settles when no change of this instance is under way. Never rejects. */
  get tidied(): Promise<void> {
    return this.#tidying
  }

  /** The request was run, or is not wanted any more: here, or elsewhere. */
  onDecided({ id }: RunRequest): void {
    this.#lastRequest = id
  }

  /** Looks again and again, until the call is aborted. */
  async follow(heartbeatInterval: number, call: StoreCall): Promise<void> {
    const { clock, random, outage } = this.#around
    const interval = Math.min(heartbeatInterval, LONGEST_LOOK)
    while (!call.aborted) {
      try {
        await this.look()
        if (this.#isDown) outage.onAnswer()
        this.#isDown = false
      } catch (error) {
        if (call.aborted) return
        this.#isDown = true
        outage.onFailure('the record of pauses and requests could not be read', error)
      }
      await pauseUntil(clock, backoff(0, interval, interval, random), call)
    }
  }

  /** Reads them. Rejects if that fails. */
  async look(): Promise<ControlState> {
    const { control, clock, keepAlive, alarm } = this.#around
    if (control === undefined) return this.#state
    this.#state = await control.look(keepAlive)
    this.#noticePause()
    if (this.requests.length > 0) alarm.ring()
    if (hasWishes(this.#state) && clock.now() - this.#rememberedAt >= REMEMBERED) this.tidy()
    return this.#state
  }

  /** Whether the tick is likely to be wanted: as it was seen last. */
  admits(due: number): boolean {
    return admitsTick(this.#state, due)
  }

  /** Whether the job is wanted, as the store says it now. Rejects if it cannot be read. */
  async want({ due, request }: Job): Promise<boolean> {
    if (this.#around.control === undefined) return true
    const state = await this.look()
    return request === undefined ? admitsTick(state, due) : state.requests.some(({ id }) => id === request.id)
  }

  /** Removes the wishes that are fulfilled, in the background. If that fails, the next change removes them. */
  tidy(): void {
    const { control, clock, keepAlive } = this.#around
    this.#rememberedAt = clock.now()
    const tidying = control?.tidy(keepAlive).catch(() => {})
    this.#tidying = Promise.all([this.#tidying, tidying]).then(() => {})
  }

  #noticePause(): void {
    const pause = pauseAt(this.#state, this.#around.wall())
    if (JSON.stringify(pause) === JSON.stringify(this.#pause)) return
    this.#pause = pause
    this.#around.onPause(pause)
  }
}
