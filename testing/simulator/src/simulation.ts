import { type HandOff, LeaseConflictError } from '@leasehold/core'
import { Random } from '../../../packages/testkit/src/random.js'
import { VirtualClock } from '../../../packages/testkit/src/time/virtual-clock.js'
import { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import { Monitor } from './monitor.js'
import { Network } from './network.js'
import { type ActiveOf, FencedResource, NodeProcess, type World } from './node-process.js'
import { ObservedStore } from './observed-store.js'
import type { SimulationPlan } from './plan.js'
import { describeFault, endOf, type PlannedFault } from './planned-fault.js'
import { ServerTimedStore } from './server-timed-store.js'
import type { SimulatedStore } from './simulated-store.js'
import { LEASE_NAME, type Scenario, type ScenarioView, type Workload } from './workload.js'

/** Streams of the seed; those of the plan have smaller numbers. */
const streams = { network: 11, offers: 12, misuse: 13, nodes: 100 }

/** The longest a hand-off takes from one node to another, as a part of the ttl. */
const LONGEST_OFFER = 0.1

interface Node {
  readonly machine: VirtualClock
  process: NodeProcess | undefined
  starts: number
  pausedUntil: number
  downUntil: number
}

/** The machines, the network, the store and the processes of one run. */
export class Simulation implements World {
  /** True time. */
  readonly time = new VirtualTime()
  readonly resource = new FencedResource()
  readonly shared = new Map<string, unknown>()
  readonly plan: SimulationPlan
  readonly monitor: Monitor
  readonly network: Network
  readonly store: SimulatedStore
  /** Draws the faults of users and clients. */
  readonly misuse: Random
  readonly #nodes: readonly Node[]
  readonly #scenario: Scenario
  readonly #random: Random
  readonly #offers: Random
  #downUntil = 0

  constructor(plan: SimulationPlan, scenario: Scenario) {
    const { time } = this
    this.plan = plan
    this.#scenario = scenario
    this.#random = new Random(plan.seed)
    this.#offers = this.#random.fork(streams.offers)
    this.misuse = this.#random.fork(streams.misuse)
    this.network = new Network(time, plan.faults, this.#random.fork(streams.network))
    this.monitor = new Monitor(plan, time)
    const server = new VirtualClock({ time, ...plan.server })
    this.store =
      plan.store === 'observed'
        ? new ObservedStore(plan, this.monitor, server)
        : new ServerTimedStore(plan, this.monitor, server)
    this.#nodes = plan.machines.map((machine) => ({
      machine: new VirtualClock({ time, ...machine }),
      process: undefined,
      starts: 0,
      pausedUntil: 0,
      downUntil: 0,
    }))
  }

  /** Every process that is alive. */
  get processes(): readonly NodeProcess[] {
    return this.#nodes.flatMap(({ process }) => process ?? [])
  }

  /** Whether the server refuses connections. */
  get isServerDown(): boolean {
    return this.time.now < this.#downUntil
  }

  /** Checks the rules of the simulator, and those of the scenario. */
  look(): void {
    this.monitor.look()
    const fault = this.#scenario.findFault?.(this.#view)
    if (fault !== undefined) this.monitor.fail('broken-rule', fault)
  }

  /** Whether the lease is held, or the scenario works as it should. */
  get hasProgressed(): boolean {
    const { hasProgressed = ({ active }) => this.monitor.isHeld || active.length > 0 } = this.#scenario
    return hasProgressed(this.#view)
  }

  get #view(): ScenarioView {
    const active: ActiveOf[] = []
    for (const { process } of this.#nodes) if (process?.isAwake === true) process.addActive(active)
    return {
      active,
      shared: this.shared,
      faults: this.plan.faults,
      grants: this.monitor.grants,
      breaks: this.monitor.breaks,
      now: this.time.now,
    }
  }

  /** Starts every node, and has the planned faults happen. */
  begin(): void {
    for (const fault of this.plan.faults) {
      this.time.schedule(fault.at, () => this.#happen(fault))
      if ('for' in fault) this.time.schedule(endOf(fault), () => this.#end(fault))
    }
    for (const node of this.#nodes.keys()) this.#start(node)
  }

  /** Starts one more process, on a machine without drift. */
  startExtra(workload: Workload): NodeProcess {
    const machine = new VirtualClock({ time: this.time })
    const node = this.#nodes.length
    return new NodeProcess(this, node, machine, 1, this.#random.fork(streams.nodes - 1), workload)
  }

  #start(node: number): void {
    const state = this.#nodes[node]
    if (state === undefined || state.process !== undefined) return
    state.starts += 1
    this.monitor.note(node, 'started')
    const random = this.#random.fork(streams.nodes + 1_000 * node + state.starts)
    state.process = new NodeProcess(this, node, state.machine, state.starts, random, this.#scenario.workload)
  }

  #happen(fault: PlannedFault): void {
    const { monitor } = this
    const node = 'node' in fault ? this.#nodes[fault.node] : undefined
    switch (fault.kind) {
      case 'crash':
        if (node?.process === undefined) return
        monitor.note(fault.node, 'crashed')
        node.process.kill()
        node.process = undefined
        node.downUntil = Math.max(node.downUntil, endOf(fault))
        return
      case 'pause':
      case 'suspend':
        if (node === undefined) return
        if (fault.kind === 'suspend') monitor.happened.add('suspended')
        monitor.note(fault.node, fault.kind === 'suspend' ? 'suspended' : 'paused')
        node.pausedUntil = Math.max(node.pausedUntil, endOf(fault))
        node.machine.pause(fault.kind === 'suspend' ? 'suspended' : 'stopped')
        return
      case 'wall-step':
        node?.machine.stepWall(fault.by)
        break
      case 'store-restart':
        this.#downUntil = Math.max(this.#downUntil, endOf(fault))
        for (const { connection } of this.processes) connection.reset()
        break
      case 'break':
        monitor.happened.add('broken')
        this.store.break(LEASE_NAME).catch((error: unknown) => {
          if (!(error instanceof LeaseConflictError)) throw error
        })
        break
      case 'forget':
        monitor.happened.add('deleted')
        monitor.previous.onForget(LEASE_NAME)
        void this.store.forget(LEASE_NAME)
        break
    }
    monitor.note(
      fault.kind === 'break' || fault.kind === 'forget' ? 'operator' : 'network',
      'fault',
      describeFault(fault),
    )
  }

  #end(fault: PlannedFault): void {
    const node = 'node' in fault ? this.#nodes[fault.node] : undefined
    if (fault.kind === 'crash' && node !== undefined) {
      if (this.time.now >= node.downUntil) node.machine.receive(() => this.#start(fault.node))
    } else if ((fault.kind === 'pause' || fault.kind === 'suspend') && node !== undefined) {
      if (this.time.now < node.pausedUntil || node.machine.isRunning) return
      this.monitor.note(fault.node, 'resumed')
      node.machine.resume()
      // checkLease must be right after a pause, before any timer has run.
      this.look()
    }
  }

  /** The owner of the process that runs on a node, or ran there last. */
  ownerOf(node: number): string {
    return `node-${node}.${this.#nodes[node]?.starts ?? 1}`
  }

  /** Passes a hand-off on to the process that then runs on the node. */
  offer(node: number, handOff: HandOff): void {
    const { heartbeatTimeout } = this.plan.timeouts
    const delay = heartbeatTimeout * this.#offers.between(0, LONGEST_OFFER)
    this.time.schedule(delay, () => {
      const target = this.#nodes[node]
      target?.machine.receive(() => {
        if (target.process !== undefined) target.process.offered = handOff
      })
    })
  }
}
