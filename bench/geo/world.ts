import { LeaseSettings, StoreLease, TimeoutSettings } from '@leasehold/core'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { Random } from '../../packages/testkit/src/random.js'
import { silentLogger } from '../../packages/testkit/src/silent-logger.js'
import {
  createPlacement,
  OneServer,
  type Placement,
  type PlacementName,
  type RegionalClient,
  type Surroundings,
} from './placements.js'
import { type NetworkOptions, type Region, RegionNetwork } from './regions.js'

/** The lease that all processes contend for. */
const NAME = 'leader'

/** No measurement takes longer, in milliseconds of virtual time. */
const LONGEST = 600_000

export interface WorldOptions extends NetworkOptions {
  readonly seed: number
  readonly placement: PlacementName
  /** The other durations are derived from it, as for every lease, unless given. */
  readonly heartbeatTimeout: number
  readonly operationTimeout?: number
}

/** A process with its lease. */
export interface RegionalProcess extends RegionalClient {
  readonly lease: StoreLease
  /** Waits for the lease until it is granted. Never rejects. */
  wait(): Promise<void>
  /** The process ends without a word. */
  crash(): void
}

/** Three regions, in virtual time: the shipped engine in each process, over a store that lives somewhere. */
export class GeoWorld {
  readonly time = new VirtualTime()
  readonly network: RegionNetwork
  readonly random: Random
  readonly #surroundings: Surroundings
  readonly #placement: Placement
  readonly #options: WorldOptions
  #processes = 0

  constructor(options: WorldOptions) {
    this.#options = options
    this.random = new Random(options.seed)
    this.network = new RegionNetwork(this.time, this.random.fork(1), options)
    this.#surroundings = { time: this.time, network: this.network, random: this.random.fork(2) }
    this.#placement = createPlacement(options.placement, this.#surroundings)
  }

  start(region: Region): RegionalProcess {
    return this.#start(region, NAME, this.#placement, undefined)
  }

  /** A process in the same region, with a lease under this one. Its store is one server in that region. */
  startChild({ region, lease }: RegionalProcess): RegionalProcess {
    return this.#start(region, 'job', new OneServer(this.#surroundings, region), lease)
  }

  #start(region: Region, name: string, placement: Placement, parent: StoreLease | undefined): RegionalProcess {
    const { heartbeatTimeout, operationTimeout } = this.#options
    const { time } = this
    this.#processes += 1
    const node = this.#processes
    const machine = new VirtualClock({ time })
    const owner = `${region}-${node}`
    const client = { node, owner, machine, isDead: false, region }
    const random = this.random.fork(100 + node)
    const timeouts = new TimeoutSettings({ heartbeatTimeout, operationTimeout })
    const lease = new StoreLease(new LeaseSettings({ name, owner, timeouts }), placement.open(client), {
      parent,
      clock: machine,
      logger: silentLogger,
      random: () => random.next(),
    })
    const wait = async (): Promise<void> => {
      while (!client.isDead && !(await lease.acquire({ wait: LONGEST, grantId: guidOf(random) }).catch(() => false))) {}
    }
    const crash = (): void => {
      client.isDead = true
      machine.clear()
    }
    return Object.assign(client, { lease, wait, crash })
  }

  /** A region is cut off from the others. Within it, all goes on. */
  isolate(region: Region): void {
    this.network.isolate(region)
    this.#placement.onIsolated(region)
  }

  /** Lets time pass until the promise is settled; resolves with its value and how long it took. */
  async measure<T>(promise: Promise<T>): Promise<{ readonly value: T; readonly took: number }> {
    const begun = this.time.now
    let endedAt: number | undefined
    const end = (): void => {
      endedAt = this.time.now
    }
    promise.then(end, end)
    if (!(await this.time.advanceUntil(() => endedAt !== undefined, LONGEST)))
      throw new Error(`not within ${LONGEST} ms`)
    return { value: await promise, took: (endedAt ?? begun) - begun }
  }
}

/** From the seed: of two claims at a quorum, the one with the smaller grant id continues. */
function guidOf(random: Random): string {
  const digits = Array.from({ length: 30 }, () => random.whole(0, 15).toString(16)).join('')
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-8${digits.slice(15, 18)}-${digits.slice(18)}`
}
