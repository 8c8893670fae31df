// The health indicator for @nestjs/terminus, which only applications with it install.

import { healthOf } from '@leasehold/core'
import { Inject, Injectable } from '@nestjs/common'
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus'
import { Leases } from './leases.js'

/**
 * The health of the schedules, elections and leases of the application, without asking the store. An instance that waits for
 * its turn is healthy, and so is a follower: do not make readiness depend on who leads.
 */
export class LeaseholdHealthIndicator {
  // It has no state here. The application may have another copy of terminus, which could not be injected.
  readonly #indicators = new HealthIndicatorService()
  readonly #leases: Leases

  constructor(leases: Leases) {
    this.#leases = leases
  }

  /** `down`, with a reason, as soon as one of them is unhealthy. `key`: its name in the result; `leases` unless given. */
  isHealthy<const K extends string = 'leases'>(key?: K): HealthIndicatorResult<K> {
    const { healthy, reason } = healthOf(this.#leases)
    const indicator = this.#indicators.check((key ?? 'leases') as K)
    return healthy ? indicator.up() : indicator.down({ reason })
  }
}
Injectable()(LeaseholdHealthIndicator)
Inject(Leases)(LeaseholdHealthIndicator, undefined, 0)
