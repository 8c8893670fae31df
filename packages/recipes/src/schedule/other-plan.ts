import type { ScheduleRecord } from './schedule-record.js'

/**
 * Notices that an instance with another plan runs the schedule. The first record that is seen does not count, because the
 * deployment before may have left it.
 */
export class OtherPlan {
  readonly #own: string
  readonly #report: (plan: string) => void
  #first: number | undefined
  #isReported = false

  /** `report` gets the other plan, once. */
  constructor(own: string, report: (plan: string) => void) {
    this.#own = own
    this.#report = report
  }

  onRecord({ tick = Number.NEGATIVE_INFINITY, plan }: ScheduleRecord): void {
    this.#first ??= tick
    if (this.#isReported || tick === this.#first || plan === undefined || plan === this.#own) return
    this.#isReported = true
    this.#report(plan)
  }
}
