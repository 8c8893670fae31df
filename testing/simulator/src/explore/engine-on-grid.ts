import type { EngineState } from '@leasehold/core/internal'
import type { Grid } from './grid.js'

/** The failure of every call. */
export const FAILURE = new Error('no answer')

/**
 * The state of an engine, `passed` units later, on the grid. Times in the past are cut off where a later one makes no
 * difference any more: that leaves finitely many states. Counts of failures, which only make pauses longer, are cut off at 1,
 * and all pauses are rounded up to a unit: a timer can be late.
 */
export function onGrid(engine: EngineState, passed: number, grid: Grid): EngineState {
  const { unit, ttl } = grid
  /** A due time: late by one unit, it is late for good. */
  const due = (at: number): number =>
    at === Number.POSITIVE_INFINITY ? at : Math.max(grid.ceil(at) - passed, -1) * unit
  /** Validity that counts from before this is over. */
  const sent = (at: number): number => Math.max(grid.ceil(at) - passed, -ttl) * unit
  switch (engine.phase) {
    case 'idle':
      return engine
    case 'acquiring': {
      const { call, uncertainSince, failures, refusals, failure } = engine
      return {
        ...engine,
        call: call && { ...call, sentAt: sent(call.sentAt), limitAt: due(call.limitAt) },
        sentAt: sent(engine.sentAt),
        firstSentAt: sent(engine.firstSentAt),
        retryAt: due(engine.retryAt),
        uncertainSince: uncertainSince === undefined ? undefined : sent(uncertainSince),
        failures: Math.min(failures, 1),
        refusals: Math.min(refusals, 1),
        failure: failure && FAILURE,
      }
    }
    case 'releasing': {
      const { retryAt, limitAt, failures, failure } = engine
      return {
        ...engine,
        retryAt: due(retryAt),
        limitAt: due(limitAt),
        failures: Math.min(failures, 1),
        failure: failure && FAILURE,
      }
    }
    default: {
      const { call, confirmedAt, validUntil, heartbeatAt, failures, failure } = engine
      return {
        ...engine,
        call: call && { ...call, sentAt: sent(call.sentAt), limitAt: due(call.limitAt) },
        confirmedAt: sent(confirmedAt),
        validUntil: Math.max(grid.ceil(validUntil) - passed, 0) * unit,
        heartbeatAt: due(heartbeatAt),
        failures: Math.min(failures, 1),
        failure: failure && FAILURE,
      }
    }
  }
}
