import type { NodeProcess } from '../node-process.js'
import type { ObservedLease } from '../observed-lease.js'
import { endOf, type FaultKind } from '../planned-fault.js'
import type { Simulation } from '../simulation.js'

const phases = { idle: 0, acquiring: 1, held: 2, jeopardy: 3, releasing: 4 } as const

/** The kinds of calls that a process waits for, as bits. Any other method is a look at the store. */
const calls: Readonly<Record<string, number>> = {
  acquire: 1,
  create: 1,
  renew: 2,
  update: 2,
  replace: 2,
  release: 4,
  change: 4,
  break: 4,
}
const LOOK = 8

/** The faults that concern every node, as bits. */
const sharedFaults: Partial<Record<FaultKind, number>> = { 'store-restart': 1, loss: 2, delay: 4, duplication: 8 }

/** The faults of one node that last, as bits. */
const nodeFaults: Partial<Record<FaultKind, number>> = { partition: 1, fading: 1, 'user-code': 2, nonsense: 2 }

/** The number of states of one process, and of faults that concern all. */
const PROCESS_STATES = 2 ** 14
const SHARED_STATES = 2 ** 4

/**
 * The states that runs have reached, abstracted: for each pair of nodes, the phase and the validity of their leases, the
 * kinds of calls under way, how their grants relate to the last one in the store, and the faults in force.
 */
export class StateCoverage {
  readonly #reached = new Set<number>()
  #last: readonly number[] = []

  get size(): number {
    return this.#reached.size
  }

  /** A new run begins: its first state is looked at in any case. */
  begin(): void {
    this.#last = []
  }

  /** How many states the simulation has reached just now that no run has reached before. */
  look(simulation: Simulation): number {
    const states = [this.#faultsOf(simulation), ...simulation.processes.map((process) => stateOf(process, simulation))]
    const last = this.#last
    if (states.length === last.length && states.every((state, place) => state === last[place])) return 0
    this.#last = states
    const before = this.#reached.size
    const [shared = 0, ...own] = states
    own.sort((one, other) => one - other)
    for (const [place, one] of own.entries()) {
      for (const other of own.slice(place + 1)) {
        this.#reached.add((one * PROCESS_STATES + other) * SHARED_STATES + shared)
      }
    }
    return this.#reached.size - before
  }

  #faultsOf({ plan, time }: Simulation): number {
    let bits = 0
    for (const fault of plan.faults) {
      if (fault.at <= time.now && time.now < endOf(fault)) bits |= sharedFaults[fault.kind] ?? 0
    }
    return bits
  }
}

function stateOf(process: NodeProcess, { plan, time, monitor }: Simulation): number {
  const { machine, connection, node, leases } = process
  let faults = 0
  for (const fault of plan.faults) {
    if (!('node' in fault) || fault.node !== node) continue
    if (fault.at <= time.now && time.now < endOf(fault)) faults |= nodeFaults[fault.kind] ?? 0
  }
  let pending = 0
  for (const method of connection.pendingMethods) pending |= calls[method] ?? LOOK
  let lease = 0
  for (const one of leases) lease = Math.max(lease, stateOfLease(one, monitor.lastTokenOf(one.settings.name)))
  const running = machine.isRunning ? 0 : machine.isSuspended ? 2 : 1
  return ((lease * 16 + pending) * 4 + running) * 4 + faults
}

/** Below 64. A suspended process cannot look at its clock, but its lease knows its token all the same. */
function stateOfLease(lease: ObservedLease, last: bigint | undefined): number {
  const { state, fencingToken } = lease
  const relation = fencingToken === undefined ? 0 : fencingToken === last ? 1 : 2
  const isValid = relation !== 0 && lease.process.isAwake && lease.checkLease()
  return (phases[state] * 3 + relation) * 2 + (isValid ? 1 : 0)
}
