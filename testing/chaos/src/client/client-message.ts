import type { HandOff } from '@leasehold/core'

/** A grant on its way from one client to another: the runner passes it on. */
export interface GivenGrant {
  readonly type: 'given'
  readonly to: number
  readonly handOff: HandOff
}

/** From the runner: the wall clock is set forward or back. */
interface WallStep {
  readonly type: 'step-wall-clock'
  readonly by: number
}

export type ClientMessage = GivenGrant | WallStep
