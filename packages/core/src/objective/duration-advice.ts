import type { LeaseTimes, LossForecast } from './loss-forecast.js'

/** Durations for an objective, and what they can keep of it. Durations in milliseconds. */
export interface DurationAdvice {
  readonly heartbeatTimeout: number
  readonly heartbeatInterval: number
  readonly operationTimeout: number
  /**
   * Whether the objective is kept: the forecast is within it, and `upperForecast` within twice of it. `true` also while too
   * little is known for a forecast.
   */
  readonly kept: boolean
  /** The false losses a year to be expected; `undefined` while too little is known. */
  readonly forecast: number | undefined
  /**
   * With a confidence of 95 %, there are not more false losses a year than this, by the causes that were seen; `undefined`
   * while too little is known.
   */
  readonly upperForecast: number | undefined
  /** How long after the death of a holder the next one is expected to hold the lease. */
  readonly failover: number
  /** Why the objective is not kept, and what would keep it; or that too little is known. `undefined` otherwise. */
  readonly reason: string | undefined
}

/** Durations with their forecast. */
export interface Chosen extends LeaseTimes {
  readonly losses: LossForecast
  readonly failover: number
}

/** Durations with their forecast, and its upper bound. */
export interface Judged extends Chosen {
  readonly upperForecast: number
}
