/** A fault that the nemesis can draw, without the means to carry it out. */
export interface FaultChoice {
  readonly kind: string
  readonly target: string
  readonly weight: number
  /** The shortest and longest duration in milliseconds. */
  readonly lasts: readonly [number, number]
  /** For a fault with a size, such as a step of a clock: its bound in both directions. */
  readonly most?: number
}

/** A fault of a schedule. Durations are milliseconds; `at` counts from the begin of the run. */
export interface PlannedFault {
  readonly kind: string
  readonly target: string
  readonly at: number
  readonly lasts: number
  readonly amount?: number
}
