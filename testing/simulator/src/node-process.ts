import {
  type Clock,
  type CreateLeaseOptions,
  type HandOff,
  LeaseConflictError,
  LeaseSettings,
  type LeaseStore,
  type StoreLease,
  TimeoutSettings,
} from '@leasehold/core'
import { createSystemClock } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'
import type { Random } from '../../../packages/testkit/src/random.js'
import { silentLogger } from '../../../packages/testkit/src/silent-logger.js'
import type { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'
import type { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import { Connection, type Line } from './connection.js'
import type { Monitor } from './monitor.js'
import { Nonsense } from './nonsense.js'
import { observeCalls } from './observed-calls.js'
import { ObservedLease } from './observed-lease.js'
import type { PlannedTimeouts, SimulationPlan } from './plan.js'
import type { ClientStore, SimulatedStore } from './simulated-store.js'
import { UserCode } from './user-code.js'
import { type Activity, LEASE_NAME, type ScenarioView, type SimulatedProcess, type Workload } from './workload.js'

/** The resource that the lease protects. It rejects a write after a write with a larger fencing token. */
export class FencedResource {
  readonly #largest = new Map<string, bigint>()

  /** Whether the write is accepted. */
  write(name: string, fencingToken: bigint): boolean {
    const largest = this.#largest.get(name)
    if (largest !== undefined && fencingToken < largest) return false
    this.#largest.set(name, fencingToken)
    return true
  }
}

/** The simulation, from the side of a process. */
export interface World extends Line {
  readonly plan: SimulationPlan
  readonly monitor: Monitor
  /** True time. */
  readonly time: VirtualTime
  readonly store: SimulatedStore
  readonly resource: FencedResource
  readonly shared: Map<string, unknown>
  /** Draws the faults of users and clients. */
  readonly misuse: Random
  ownerOf(node: number): string
  offer(node: number, handOff: HandOff): void
}

/** Something that a process does now, for the rules of a scenario. */
export type ActiveOf = ScenarioView['active'][number]

/** The stream of randomness of leases that a workload makes itself. */
const OWN_LEASES = 1_000_000

/** One process of a node, from its start to its end or its crash: the unmodified engine, on the clocks of the machine. */
export class NodeProcess implements SimulatedProcess {
  readonly node: number
  readonly owner: string
  readonly random: Random
  readonly clock: Clock
  readonly connection: Connection
  readonly nodes: number
  readonly machine: VirtualClock
  readonly lease: StoreLease
  readonly userCode: UserCode
  /** Whether the workload has not ended. */
  isWorking = true
  readonly leases: ObservedLease[] = []
  /** A hand-off that was offered to it, and that its workload did not take yet. */
  offered: HandOff | undefined
  readonly store: ClientStore
  readonly leaseOptions: CreateLeaseOptions & { readonly owner: string }
  /** Messages no longer reach it. */
  isDead = false
  readonly #simulation: World
  readonly #activities: Activity[] = []
  readonly #stop = new AbortableCall()

  constructor(
    simulation: World,
    node: number,
    machine: VirtualClock,
    incarnation: number,
    random: Random,
    work: Workload,
  ) {
    this.#simulation = simulation
    this.node = node
    this.machine = machine
    this.random = random
    const { plan, time, store, monitor, misuse } = simulation
    this.nodes = plan.machines.length
    this.owner = `node-${node}.${incarnation}`
    // The same code reads the clocks as in production.
    this.clock = createSystemClock({
      ...machine.readings,
      // A dead process may run code until the end of its turn: its timers have no effect.
      schedule: (delay, task) => (this.isDead ? () => {} : machine.schedule(delay, task)),
    })
    const stream = 1_000 * node + incarnation
    this.userCode = new UserCode(node, plan.faults, time, misuse.fork(2 * stream))
    const nonsense = new Nonsense(node, plan.faults, time, misuse.fork(2 * stream + 1))
    this.connection = new Connection(this, simulation, nonsense)
    this.store = store.open(this.connection, this.clock)
    observeCalls(this, monitor, plan)
    const leaseRandom = this.random.fork(OWN_LEASES)
    this.leaseOptions = {
      owner: this.owner,
      ...plan.timeouts,
      clock: this.clock,
      logger: silentLogger,
      random: () => leaseRandom.next(),
    }
    this.lease = this.createLease()
    void this.#work(work)
  }

  /** Whether it can look at its clock. On a suspended machine it cannot; a stopped process can, as soon as it continues. */
  get isAwake(): boolean {
    return !this.isDead && !this.machine.isSuspended
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get shared(): Map<string, unknown> {
    return this.#simulation.shared
  }

  get time(): VirtualTime {
    return this.#simulation.time
  }

  /** Adds what it does now, for the rules of the scenario. A loop without copies by spread: it runs after each step. */
  addActive(active: ActiveOf[]): void {
    const { owner } = this
    for (const activity of this.#activities) {
      if (!activity.isActive()) continue
      const { kind, of, isActive } = activity
      active.push({ kind, of, isActive, owner })
    }
  }

  // Workloads destructure these: they must not need `this`.

  readonly wall = (): number => this.machine.wall()

  readonly createLease = (name = LEASE_NAME, stretch = 1): StoreLease => {
    const { monitor, plan, time } = this.#simulation
    const durations = stretched(plan.timeouts, stretch)
    const random = this.random.fork(this.leases.length)
    // Only the leases on the contended name get faulty user code: the others must not be affected.
    const userCode = name === LEASE_NAME ? this.userCode : new UserCode(this.node, [], time, random)
    const { strategy } = new TimeoutSettings(durations)
    const settings = new LeaseSettings({
      name,
      owner: this.owner,
      timeouts: new TimeoutSettings({ ...durations, strategy: userCode.strategyOver(strategy) }),
      maxHold: plan.maxHold,
    })
    const environment = { clock: this.clock, logger: userCode.logger, random: userCode.randomOver(random) }
    const lease = new ObservedLease(this, settings, environment, monitor, userCode.callBack)
    userCode.listenTo(lease)
    this.leases.push(lease)
    monitor.watch(lease)
    return lease.front
  }

  readonly openStore = (clock: Clock): LeaseStore => this.#simulation.store.open(this.connection, clock)

  readonly sleep = async (duration: number): Promise<void> => {
    if (!this.#stop.aborted) await pause(this.clock, duration, this.#stop).catch(() => {})
  }

  readonly write = async (asked: StoreLease = this.lease): Promise<boolean> => {
    const { name } = asked.settings
    const lease = this.leases.find(({ front }) => front === asked)
    const fencingToken = lease?.fencingToken
    if (lease === undefined || fencingToken === undefined) {
      throw new LeaseConflictError(`this process holds no lease '${name}': nothing to write under`)
    }
    return await new Promise((resolve) => {
      this.connection.post({ method: 'write', fencingToken }, (answer) => {
        const isAccepted = this.#simulation.resource.write(name, fencingToken)
        this.#simulation.monitor.onWrite(lease, fencingToken, isAccepted)
        answer(isAccepted, !isAccepted, () => resolve(isAccepted))
      })
    })
  }

  readonly show = (activity: Activity): void => {
    this.#activities.push(activity)
  }

  readonly offer = (node: number, handOff: HandOff): void => this.#simulation.offer(node, handOff)

  readonly ownerOf = (node: number): string => this.#simulation.ownerOf(node)

  readonly takeOffer = (): HandOff | undefined => {
    const { offered } = this
    this.offered = undefined
    return offered
  }

  stop(): void {
    this.#stop.abort()
  }

  kill(): void {
    this.isDead = true
    this.connection.kill()
    this.machine.clear()
    for (const lease of this.leases) this.#simulation.monitor.forget(lease)
  }

  async #work(work: Workload): Promise<void> {
    try {
      await work(this)
    } catch (failure) {
      if (!this.isDead) this.#simulation.monitor.fail('failed-workload', `${this.owner}: ${failure}`, failure)
    } finally {
      this.isWorking = false
    }
  }
}

function stretched(timeouts: PlannedTimeouts, by: number): PlannedTimeouts {
  const { heartbeatTimeout, heartbeatInterval, operationTimeout } = timeouts
  return {
    ...timeouts,
    heartbeatTimeout: by * heartbeatTimeout,
    heartbeatInterval: by * heartbeatInterval,
    operationTimeout: by * operationTimeout,
  }
}
