import type { Clock } from './clock.js'
import type { Logger } from './logger.js'

export interface LeaseEnvironment {
  /** The machine's clock unless given. */
  readonly clock?: Clock | undefined
  /** Process warnings unless given. */
  readonly logger?: Logger | undefined
  /** Random numbers from 0 to 1, 1 excluded, for jitter; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
}
