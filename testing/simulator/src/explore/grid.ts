import { TimeoutSettings } from '@leasehold/core'
import type { EventContext, LeaseRules } from '@leasehold/core/internal'
import type { Bounds } from './bounds.js'

/** What the engine subtracts from a ttl: 25 ms and one percent. Written here again, so that a bug there is no bug here. */
const MARGIN = 25
const DRIFT = 0.01

/** Rounding errors of times in milliseconds. */
const EPSILON = 1e-6

/** The one name that is contended for. */
export const NAME = 'job'

/**
 * Time in whole units. A unit is as long as what validity is shorter than the ttl, so that all instants at which the
 * engine and the stores decide otherwise than before lie on the grid.
 */
export class Grid {
  readonly ttl: number
  /** In milliseconds. */
  readonly unit: number

  constructor({ ttl }: Pick<Bounds, 'ttl'>) {
    this.ttl = ttl
    this.unit = MARGIN / (1 - DRIFT * ttl)
  }

  /** The first unit that is not before an instant. */
  ceil(at: number): number {
    return Math.ceil(at / this.unit - EPSILON)
  }

  /** The last unit that is not after an instant. */
  floor(at: number): number {
    return Math.floor(at / this.unit + EPSILON)
  }
}

/** The context of the transitions of one client. The present is 0 always: all times are counted from now. */
export function contextOf(bounds: Bounds, grid: Grid, client: number): EventContext {
  const { unit } = grid
  const durations = { heartbeatInterval: unit, heartbeatTimeout: grid.ttl * unit, operationTimeout: unit }
  const plan = { after: durations.heartbeatInterval, attemptTimeout: durations.operationTimeout }
  const rules: LeaseRules = {
    name: NAME,
    owner: ownerOf(client),
    kind: bounds.store,
    ttl: durations.heartbeatTimeout,
    heartbeatInterval: durations.heartbeatInterval,
    operationTimeout: durations.operationTimeout,
    maxHold: Number.POSITIVE_INFINITY,
    fenceReserve: 0,
    // For strategies, in whose place `plan` stands here.
    plannedTimes: new TimeoutSettings(),
    manual: false,
    exact: false,
    watched: false,
    ordered: bounds.queue,
    observed: bounds.store === 'observed',
  }
  return {
    rules,
    now: 0,
    suspended: 0,
    random: () => 0,
    isParentLost: false,
    isUnresponsive: false,
    plan: () => plan,
    shared: (at) => at,
  }
}

export function ownerOf(client: number): string {
  return `client ${client}`
}
