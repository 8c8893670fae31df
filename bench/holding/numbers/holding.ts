import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { machine } from '../../postgres/report/machine.js'
import { Fleet } from '../holder/fleet.js'
import type { StoreKind } from '../holder/open-store.js'
import type { Figures, Memory } from '../holder/orders.js'
import { CommandRate, type Rate } from '../servers/command-rate.js'
import { withServer } from '../servers/servers.js'
import type { StoreServer } from '../servers/store-server.js'
import { withProgress } from './progress.js'
import { measureTakeOver, type TakeOver } from './take-over.js'

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

export interface Holding {
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

/** Holds leases with several processes, and measures what that costs; then one process is killed, if so asked. */
export async function measureHolding(task: HoldingTask): Promise<Holding> {
  return await withServer(task.store, async (server) => {
    const where = machine(server.version)
    console.error(where)
    const fleet = await Fleet.start({ ...task, address: server.address }, task.processes)
    try {
      const held = await acquireAll(fleet, server, task)
      const measured = await measureHeld(fleet, server, task)
      const [load = Number.NaN] = loadavg()
      const takeOver = task.isKilled ? { takeOver: await measureTakeOver(fleet, server, task) } : {}
      const { memory, ...acquired } = held
      return {
        task,
        machine: where,
        date: new Date().toISOString().slice(0, 10),
        load,
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

/** The memory that the leases take, in the processes and at the server. */
async function acquireAll(fleet: Fleet, server: StoreServer, { leases }: HoldingTask) {
  // What is loaded and made on first use is not what a lease costs.
  await fleet.all('cycles', { rounds: 1, lanes: 1 })
  const empty = await fleet.all('collect', {})
  const { stored } = await server.read()
  const startedAt = performance.now()
  await withProgress('acquiring', fleet, fleet.hold({ first: 0, count: leases }))
  const acquiring = performance.now() - startedAt
  const counts = await fleet.all('count', {})
  const full = await fleet.all('collect', {})
  const memory = counts.map(({ held }, place) => {
    const of = (figure: keyof Memory): number => ((full[place]?.[figure] ?? 0) - (empty[place]?.[figure] ?? 0)) / held
    return { leases: held, heap: of('heap'), resident: of('resident') }
  })
  return { acquiring, memory, stored: ((await server.read()).stored - stored) / leases }
}

async function measureHeld(fleet: Fleet, server: StoreServer, { measured }: HoldingTask) {
  // The garbage collection has delayed heartbeats.
  await pause(2_000)
  const before = await server.read()
  await fleet.all('begin', {})
  const rate = new CommandRate(server)
  await withProgress('holding', fleet, pause(measured))
  const processes = await fleet.all('figures', {})
  const serverCpu = (await server.read()).cpu - before.cpu
  return { processes, serverCpu, rate: await rate.stop(), commands: server.commands }
}
