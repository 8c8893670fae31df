import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Violation } from './checks.js'
import type { HistoryEntry } from './history.js'
import type { NodeProcess } from './node-process.js'
import type { SimulationPlan } from './plan.js'
import { Simulation } from './simulation.js'
import type { Scenario } from './workload.js'

/** Limits that no simulation reaches: at its start, for each millisecond, and at one instant. */
const MOST_STEPS = 100_000
const MOST_STEPS_A_MILLISECOND = 20
const MOST_STEPS_AT_ONCE = 5_000

/** The result of one simulation. */
export interface SimulationReport {
  readonly plan: SimulationPlan
  /** How many timers and messages there were. */
  readonly steps: number
  readonly grants: number
  readonly losses: number
  readonly writes: number
  readonly history: readonly HistoryEntry[]
}

export interface RunResult extends SimulationReport {
  /** The first rule that was broken, if one was. */
  readonly violation: Violation | undefined
}

/** Runs a plan to its end, or to the first violation. `observe`: called after each step. */
export async function runPlan(
  plan: SimulationPlan,
  scenario: Scenario,
  observe?: (simulation: Simulation) => void,
): Promise<RunResult> {
  const run = new Run(plan, scenario, observe)
  const steps = await run.carryOut()
  const { grants, losses, writes, history, violation } = run.simulation.monitor
  return { plan, steps, grants: grants.length, losses, writes, history, violation }
}

/** Resolves when all promise reactions have run, without a turn of the event loop: that would cost as much as a step. */
function reactions(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

class Run {
  readonly simulation: Simulation
  /** The longest time for any wait, in milliseconds, once the store can be reached. */
  readonly #bound: number
  /** Whether to look for unhandled rejections, which Node reports between turns of the event loop. */
  readonly #misbehaves: boolean
  readonly #observe: ((simulation: Simulation) => void) | undefined
  #steps = 0
  #stepsAtOnce = 0
  #lastStepAt = 0

  constructor(plan: SimulationPlan, scenario: Scenario, observe?: (simulation: Simulation) => void) {
    this.simulation = new Simulation(plan, scenario)
    this.#observe = observe
    this.#misbehaves = plan.faults.some(({ kind }) => kind === 'user-code' || kind === 'nonsense')
    const { heartbeatTimeout, heartbeatInterval, operationTimeout } = plan.timeouts
    this.#bound = 2.5 * heartbeatTimeout + heartbeatInterval + 10 * operationTimeout + 1_000
  }

  async carryOut(): Promise<number> {
    const { monitor } = this.simulation
    const onError = (error: unknown): void => monitor.fail('uncaught-error', show(error), error)
    // A lease emits a warning for each message that its logger fails to log: here that is noise.
    const warned = this.simulation.plan.faults.some((fault) => fault.kind === 'user-code' && fault.part === 'logger')
    const listeners = warned ? process.listeners('warning') : []
    process.on('unhandledRejection', onError)
    process.on('uncaughtException', onError)
    for (const listener of listeners) process.off('warning', listener)
    try {
      return await this.#carryOut()
    } finally {
      process.off('unhandledRejection', onError)
      process.off('uncaughtException', onError)
      for (const listener of listeners) process.on('warning', listener)
    }
  }

  async #carryOut(): Promise<number> {
    this.simulation.begin()
    await this.#runFor(this.simulation.plan.duration)
    await this.#findHolder()
    const processes = this.simulation.processes
    await this.#stop(processes)
    await this.#admitNewcomer()
    await this.#runFor(2.5 * this.simulation.plan.timeouts.heartbeatTimeout + this.#bound)
    this.#lookForLeaks(processes)
    return this.#steps
  }

  /** Lets time pass, checking after each step; ends early with a violation, or when `isOver`. */
  async #runFor(duration: number, isOver: () => boolean = () => false): Promise<void> {
    const { time, monitor } = this.simulation
    const end = time.now + duration
    await nextTurn()
    while (monitor.violation === undefined && !isOver() && this.#step(end)) {
      await (this.#misbehaves ? nextTurn() : reactions())
      this.simulation.look()
      this.#observe?.(this.simulation)
      this.#count()
    }
    if (monitor.violation === undefined && !isOver() && end > time.now) time.skip(end - time.now)
    monitor.lookAtLosses()
  }

  /** An error thrown by a timer would end the process. */
  #step(end: number): boolean {
    try {
      return this.simulation.time.step(end)
    } catch (error) {
      this.simulation.monitor.fail('uncaught-error', `out of a timer: ${show(error)}`, error)
      return true
    }
  }

  #count(): void {
    const { time, monitor } = this.simulation
    this.#steps += 1
    this.#stepsAtOnce = time.now === this.#lastStepAt ? this.#stepsAtOnce + 1 : 1
    this.#lastStepAt = time.now
    if (this.#steps > MOST_STEPS + MOST_STEPS_A_MILLISECOND * time.now) monitor.fail('runaway', `${this.#steps} steps`)
    if (this.#stepsAtOnce > MOST_STEPS_AT_ONCE) monitor.fail('runaway', `${MOST_STEPS_AT_ONCE} steps at one instant`)
  }

  /** After the last fault, a node holds the lease within the bound. */
  async #findHolder(): Promise<void> {
    const { simulation } = this
    await this.#runFor(this.#bound, () => simulation.hasProgressed)
    if (simulation.hasProgressed) return
    simulation.monitor.fail('no-progress', `no node held the lease within ${Math.round(this.#bound)} ms`)
  }

  /** Ends the workloads, and closes the leases of the processes. */
  async #stop(processes: readonly NodeProcess[]): Promise<void> {
    const { monitor } = this.simulation
    for (const process of processes) process.stop()
    await this.#runFor(this.#bound, () => processes.every(({ isWorking }) => !isWorking))
    if (monitor.violation !== undefined) return
    for (const process of processes) {
      if (process.isWorking) monitor.fail('stuck-workload', `of ${process.owner}, ${Math.round(this.#bound)} ms`)
    }
    const closing = processes.flatMap(({ leases }) => leases.map(({ front }) => front.close()))
    for (const closed of closing) closed.catch(() => {})
    await this.#runFor(this.#bound, () => processes.every(({ leases }) => leases.every(({ unended }) => unended === 0)))
    for (const { leases, owner } of processes) {
      const unended = leases.reduce((sum, lease) => sum + lease.unended, 0)
      if (unended > 0) monitor.fail('stuck-call', `${unended} calls of ${owner} within ${Math.round(this.#bound)} ms`)
    }
  }

  /** A new challenger is granted the lease within the bound. */
  async #admitNewcomer(): Promise<void> {
    const { simulation } = this
    let isGranted = false
    const extra = simulation.startExtra(async ({ lease }) => {
      isGranted = await lease.acquire({ wait: this.#bound })
      await lease.release()
    })
    await this.#runFor(2 * this.#bound, () => !extra.isWorking)
    if (simulation.monitor.violation !== undefined) return
    if (!isGranted) simulation.monitor.fail('no-progress', `a newcomer waited for ${Math.round(this.#bound)} ms`)
  }

  #lookForLeaks(processes: readonly NodeProcess[]): void {
    const { monitor, store } = this.simulation
    for (const { owner, machine, connection, signal, userCode } of processes) {
      const [unreported] = userCode.unreported
      if (unreported !== undefined) monitor.fail('unreported-error', `of the ${unreported} of ${owner}`)
      if (machine.pending > 0) monitor.fail('leaked-timer', `${machine.pending} timers of ${owner}`)
      if (this.simulation.plan.cancels && connection.pending > 0)
        monitor.fail('leaked-request', `${connection.pending} requests of ${owner}`)
      const listeners = getEventListeners(signal, 'abort').length
      if (listeners > 0) monitor.fail('leaked-listener', `${listeners} listeners on a signal of ${owner}`)
    }
    if (store.listeners > 0) monitor.fail('leaked-listener', `${store.listeners} watches at the store`)
  }
}

/** Some thrown values cannot be converted to a string. */
function show(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return typeof thrown
  }
}
