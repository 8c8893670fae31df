import type { Acquiring, EngineState, Held, Releasing } from '@leasehold/core/internal'
import type { Grid } from './grid.js'

/** The failure of every call. */
export const FAILURE = new Error('no answer')

type Call = Acquiring['call']

/**
 * The state of an engine, `passed` units later, on the grid. Times in the past are cut off where a later one makes no
 * difference any more: that leaves finitely many states. Counts of failures, which only make pauses longer, are cut off at 1,
 * and all pauses are rounded up to a unit: a timer can be late.
 */
export function onGrid(engine: EngineState, passed: number, grid: Grid): EngineState {
  switch (engine.phase) {
    case 'idle':
      return engine
    case 'acquiring':
      return acquiringOnGrid(engine, passed, grid)
    case 'releasing':
      return releasingOnGrid(engine, passed, grid)
    default:
      return heldOnGrid(engine, passed, grid)
  }
}

/** A due time: if it is late by one unit, it is late for good. */
function due(at: number, passed: number, grid: Grid): number {
  if (at === Number.POSITIVE_INFINITY) return at
  return Math.max(grid.ceil(at) - passed, -1) * grid.unit
}

/** Validity that counts from a ttl ago is over. */
function sent(at: number, passed: number, grid: Grid): number {
  return Math.max(grid.ceil(at) - passed, -grid.ttl) * grid.unit
}

function callOnGrid(call: Call, passed: number, grid: Grid): Call {
  if (call === undefined) return undefined
  const { method, isOverdue } = call
  const sentAt = sent(call.sentAt, passed, grid)
  const limitAt = due(call.limitAt, passed, grid)
  return isOverdue === true ? { method, sentAt, limitAt, isOverdue } : { method, sentAt, limitAt }
}

// Each field by itself: to copy a state and then to change the copy takes several times as long.

function acquiringOnGrid(engine: Acquiring, passed: number, grid: Grid): Acquiring {
  const { uncertainSince } = engine
  return {
    phase: 'acquiring',
    op: engine.op,
    grantId: engine.grantId,
    queue: engine.queue,
    adopted: engine.adopted,
    offered: engine.offered,
    changedAt: engine.changedAt,
    call: callOnGrid(engine.call, passed, grid),
    sentAt: sent(engine.sentAt, passed, grid),
    firstSentAt: sent(engine.firstSentAt, passed, grid),
    retryAt: due(engine.retryAt, passed, grid),
    woken: engine.woken,
    refusals: Math.min(engine.refusals, 1),
    failures: Math.min(engine.failures, 1),
    failure: engine.failure && FAILURE,
    uncertainSince: uncertainSince === undefined ? undefined : sent(uncertainSince, passed, grid),
  }
}

function releasingOnGrid(engine: Releasing, passed: number, grid: Grid): Releasing {
  return {
    phase: 'releasing',
    op: engine.op,
    grant: engine.grant,
    to: engine.to,
    metadata: engine.metadata,
    hasChildren: engine.hasChildren,
    call: engine.call,
    retryAt: due(engine.retryAt, passed, grid),
    limitAt: due(engine.limitAt, passed, grid),
    failures: Math.min(engine.failures, 1),
    failure: engine.failure && FAILURE,
    hasStray: engine.hasStray,
  }
}

function heldOnGrid(engine: Held, passed: number, grid: Grid): Held {
  return {
    phase: engine.phase,
    op: engine.op,
    grant: engine.grant,
    confirmedAt: sent(engine.confirmedAt, passed, grid),
    validUntil: Math.max(grid.ceil(engine.validUntil) - passed, 0) * grid.unit,
    holdUntil: engine.holdUntil,
    suspended: engine.suspended,
    call: callOnGrid(engine.call, passed, grid),
    heartbeatAt: due(engine.heartbeatAt, passed, grid),
    attemptTimeout: engine.attemptTimeout,
    hasOtherTtl: engine.hasOtherTtl,
    update: engine.update,
    changed: engine.changed,
    failures: Math.min(engine.failures, 1),
    failure: engine.failure && FAILURE,
    hasStray: engine.hasStray,
  }
}
