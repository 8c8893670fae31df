import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { busyMachine, today } from '../../support/machine.js'
import type { Memory } from '../../support/memory.js'
import { Fleet } from '../holder/fleet.js'
import type { Figures } from '../holder/holder.js'
import type { StoreKind } from '../holder/open-store.js'
import { CommandRate, type Rate } from '../servers/command-rate.js'
import { withServer } from '../servers/servers.js'
import type { StoreServer } from '../servers/store-server.js'
import { withProgress } from './progress.js'
import { measureTakeOver, type TakeOver } from './take-over.js'

/**
 * The pause between the acquisition of all leases and the measured time, in milliseconds. A connection of PostgreSQL counts
 * its last transactions up to ten seconds after them.
 */
const AFTER_ACQUIRING = 15_000

/** For how long processes without leases are measured, in milliseconds. */
const IDLE = 10_000

/** Durations are milliseconds. */
export interface HoldingTask {
  readonly store: StoreKind
  readonly leases: number
  readonly processes: number
  readonly ttl: number
  readonly interval: number
  /** For how long the held leases are measured. */
  readonly measured: number
  /** Whether a process is killed afterwards. */
  readonly isKilled: boolean
}

/** The held leases of one process. */
export interface ProcessFigures extends Figures {
  readonly leases: number
  /** Bytes of each lease. */
  readonly heap: number
  readonly resident: number
}

/** Processor time of all clients, and of the server. */
export interface CpuShares {
  readonly clients: number
  readonly server: number
}

export interface Holding {
  /** Without leases: parts of a core. */
  readonly idle: CpuShares
  readonly task: HoldingTask
  /** The programs and the machine. */
  readonly machine: string
  readonly date: string
  /** The load of the machine over a minute, at the end of the measured time. */
  readonly load: number
  /** Milliseconds until all were acquired. */
  readonly acquiring: number
  readonly processes: readonly ProcessFigures[]
  /** Of the server in the measured time: milliseconds of processor time. */
  readonly serverCpu: number
  readonly rate: Rate
  readonly commands: string
  /** Bytes of each lease at the server. */
  readonly stored: number
  readonly takeOver?: TakeOver
}

/** What a lease adds to the processor time in each heartbeat interval, in microseconds. */
export function costOf({ task, processes, serverCpu, idle }: Holding): CpuShares {
  const { leases, measured, interval } = task
  const cpu = processes.reduce((sum, process) => sum + process.cpu, 0)
  const heartbeats = (leases * measured) / interval
  const each = (total: number, part: number): number => ((total - part * measured) * 1_000) / heartbeats
  return { clients: each(cpu, idle.clients), server: each(serverCpu, idle.server) }
}

/** Holds leases with several processes, and measures what that costs; then one process is killed, if so asked. */
export async function measureHolding(task: HoldingTask): Promise<Holding> {
  return await withServer(task.store, async (server) => {
    const where = busyMachine(server.version)
    console.error(where)
    const fleet = await Fleet.start({ ...task, address: server.address }, task.processes)
    try {
      const idle = await measureIdle(fleet, server)
      const held = await acquireAll(fleet, server, task)
      const measured = await measureHeld(fleet, server, task)
      const [load = Number.NaN] = loadavg()
      const takeOver = task.isKilled ? { takeOver: await measureTakeOver(fleet, server, task) } : {}
      const { memory, ...acquired } = held
      return {
        task,
        machine: where,
        date: today(),
        load,
        idle,
        ...acquired,
        ...measured,
        processes: measured.processes.map((figures, place) => ({
          ...figures,
          ...(memory[place] ?? { leases: 0, heap: Number.NaN, resident: Number.NaN }),
        })),
        ...takeOver,
      }
    } finally {
      await fleet.stop()
    }
  })
}

/** What is there without leases: the timers of the measurement, and its readings. */
async function measureIdle(fleet: Fleet, server: StoreServer): Promise<CpuShares> {
  await fleet.all((holder) => holder.ask('warmUp'))
  const { processes, serverCpu } = await measureFor(IDLE, fleet, server)
  return { clients: processes.reduce((sum, { cpu }) => sum + cpu, 0) / IDLE, server: serverCpu / IDLE }
}

/** The memory that the leases take, in the processes and at the server. */
async function acquireAll(fleet: Fleet, server: StoreServer, { leases }: HoldingTask) {
  const empty = await fleet.all((holder) => holder.ask('collect'))
  const { stored } = await server.read()
  const startedAt = performance.now()
  await withProgress('acquiring', fleet, fleet.hold({ first: 0, count: leases }))
  const acquiring = performance.now() - startedAt
  const counts = await fleet.all((holder) => holder.ask('count'))
  const full: Memory[] = []
  // In turn: all at once would hold each other up for seconds, and then send the delayed heartbeats together, again and again.
  for (const holder of fleet.holders) full.push(await holder.ask('collect'))
  const memory = counts.map(({ held }, place) => {
    const of = (figure: keyof Memory): number => ((full[place]?.[figure] ?? 0) - (empty[place]?.[figure] ?? 0)) / held
    return { leases: held, heap: of('heap'), resident: of('resident') }
  })
  return { acquiring, memory, stored: ((await server.read()).stored - stored) / leases }
}

async function measureHeld(fleet: Fleet, server: StoreServer, { measured }: HoldingTask) {
  await pause(AFTER_ACQUIRING)
  return { ...(await withProgress('holding', fleet, measureFor(measured, fleet, server))), commands: server.commands }
}

async function measureFor(duration: number, fleet: Fleet, server: StoreServer) {
  await fleet.all((holder) => holder.ask('begin'))
  const rate = new CommandRate(server)
  const before = await server.read()
  await pause(duration)
  const processes = await fleet.all((holder) => holder.ask('figures'))
  const serverCpu = (await server.read()).cpu - before.cpu
  return { processes, serverCpu, rate: await rate.stop() }
}
