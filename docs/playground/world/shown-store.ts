import { type LeaseRecord, MemoryLeaseStore } from '@leasehold/core'
import { LifeCycle } from '@leasehold/core/life-cycle'
import type { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'

/** Reads records as the store does; it grants nothing, so no token comes from it. */
const lifeCycle = new LifeCycle({ store: 'memory', uncertainty: 0, tokenAfter: (last = 0n) => last + 1n })

/** The store in memory, with a way to look into it that takes no turn. */
export class ShownStore extends MemoryLeaseStore {
  /** `machine`: of the server. */
  constructor(machine: VirtualClock) {
    super({ clock: machine })
  }

  /** The record of a name; `undefined` if there never was one. */
  recordOf(name: string): LeaseRecord | undefined {
    return lifeCycle.record(name, this.stateOf(name))
  }

  /** The grant ids of those who wait, the first one first. */
  waitersOf(name: string): readonly string[] {
    const { queue, now } = this.stateOf(name)
    return [...(queue?.places() ?? [])].filter(({ keptUntil }) => keptUntil > now).map(({ grantId }) => grantId)
  }
}
