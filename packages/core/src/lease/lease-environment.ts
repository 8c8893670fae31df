import type { Clock } from '../time/clock.js'
import type { Logger } from '../user-code/logger.js'
import type { LeaseFactoryContext } from './lease-factory.js'
import type { LeaseRecorder } from './lease-recorder.js'

export interface LeaseEnvironment {
  /** The machine's clock unless given. */
  readonly clock?: Clock | undefined
  /** Process warnings unless given. */
  readonly logger?: Logger | undefined
  /** Random numbers from 0 to 1, 1 excluded, for jitter; `Math.random` unless given. */
  readonly random?: (() => number) | undefined
  /** Keeps the last decisions of the lease in memory, so that a loss can be explained; none unless given. */
  readonly recorder?: LeaseRecorder | undefined
}

/** The environment that a `LeaseProvider` gives a factory: the compiler reports a part that is forgotten here. */
export function environmentOf({ clock, logger, random, recorder }: LeaseFactoryContext): Required<LeaseEnvironment> {
  return { clock, logger, random, recorder }
}
