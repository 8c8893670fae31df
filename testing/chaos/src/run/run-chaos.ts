import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildText } from '@leasehold/testing/build-program'
import { Random } from '../../../../packages/testkit/src/random.js'
import type { ClientSettings } from '../client/client-settings.js'
import type { History } from '../history/history.js'
import { carryOut, type Deeds } from '../nemesis/carry-out.js'
import { clientFaults } from '../nemesis/client-faults.js'
import { drawSchedule } from '../nemesis/draw-schedule.js'
import type { PlannedFault } from '../nemesis/planned-fault.js'
import { machineTime } from '../record/machine-time.js'
import { mergeRecords } from '../record/merge-records.js'
import type { RunningSystem, System } from '../systems/system.js'
import type { ChaosOptions } from './chaos-options.js'
import { ClientProcess } from './client-process.js'
import { meansOf } from './means-of.js'

/** What was seen in a run. */
export interface ChaosRun {
  readonly history: History
  readonly schedule: readonly PlannedFault[]
  /** Client processes that ended by themselves. */
  readonly crashes: readonly string[]
  /** Faults that could not be carried out, and servers that did not come back. */
  readonly failures: readonly string[]
  /** Faults that this machine does not allow. */
  readonly leftOut: readonly string[]
}

const NAMES = ['a', 'b', 'c']
/** Any two clocks differ by less than one part in a hundred. */
const MOST_DRIFT = 0.004
const MOST_WALL_LEAD = 12 * 3_600_000
/** How many operations in a second there are with a pace of 1. */
const USUAL_RATE = 45
/** For the processes to start, so that their first calls are not the only ones without faults. */
const START = 1_500
/** How long a client may take to end after its time, besides two time limits of operations. */
const LONGEST_END = 3_000

/** Starts the servers and the clients, lets the nemesis work, and resolves with what was recorded. */
export async function runChaos(system: System, options: ChaosOptions): Promise<ChaosRun> {
  const folder = mkdtempSync(join(tmpdir(), `leasehold-chaos-${system.name}-`))
  const [records, servers] = [join(folder, 'records'), join(folder, 'servers')]
  mkdirSync(records)
  mkdirSync(servers)
  let program = ''
  const remove = (): void => {
    if (program !== '') rmSync(program, { force: true })
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
  // An interrupted run leaves nothing behind either.
  process.once('exit', remove)
  try {
    program = await buildText(`chaos-${system.name}-${options.seed}`, clientText(system))
    const running = await system.start({ folder: servers, clients: options.clients, names: NAMES })
    try {
      return await withServers(system, running, options, { program, records })
    } finally {
      await running.stop()
    }
  } finally {
    process.off('exit', remove)
    remove()
  }
}

function clientText(system: System): string {
  const runner = fileURLToPath(new URL('../client/run-client.ts', import.meta.url))
  const connect = fileURLToPath(system.client)
  return `import { runClient } from '${runner}'\nimport connect from '${connect}'\nawait runClient(connect)\n`
}

/** How long a run goes on after the last fault, in milliseconds. */
export function calmEndOf({ longestRecovery, timeouts }: System, duration: number): number {
  return Math.min(longestRecovery + 2 * timeouts.ttl, duration / 2)
}

/** The faults of a run, drawn unless they are given. */
function scheduleFor(system: System, running: RunningSystem, options: ChaosOptions): readonly PlannedFault[] {
  if (options.schedule !== undefined) return options.schedule
  const { ttl } = system.timeouts
  const own = running.faults.map(({ kind, target, lasts, most, weight = 1 }) => {
    const size = most === undefined ? {} : { most }
    return { kind, target, lasts, ...size, weight: options.with.includes(kind) ? Math.max(weight, 1) : weight }
  })
  const calmEnd = calmEndOf(system, options.duration)
  const choices = [...clientFaults(options.clients, ttl), ...own]
  return drawSchedule(options.seed, { duration: options.duration, calmEnd, choices })
}

interface Places {
  readonly program: string
  readonly records: string
}

async function withServers(
  system: System,
  running: RunningSystem,
  options: ChaosOptions,
  places: Places,
): Promise<ChaosRun> {
  const { seed, duration, clients: count } = options
  const schedule = scheduleFor(system, running, options)
  const from = machineTime() + START
  const clients = startClients(system, running, options, { ...places, until: from + duration })
  // A frozen process does not notice that the runner has ended.
  const onExit = (): void => clients.forEach((client) => void client.kill())
  process.once('exit', onExit)
  let deeds: Deeds
  let lost: readonly string[]
  try {
    await pause(START)
    deeds = await carryOut(schedule, from, (fault) => meansOf(fault, running, clients))
    // The calls that were recorded are checked, even if the servers do not come back.
    lost = await running.heal().then(
      () => [],
      (error) => [`the servers did not come back: ${String(error)}`],
    )
    await pause(Math.max(0, from + duration - machineTime()))
    const limit = 2 * system.timeouts.operationTimeout + system.timeouts.ttl + LONGEST_END
    await Promise.all(clients.map((client) => client.ended(limit)))
  } finally {
    await Promise.all(clients.map((client) => client.kill()))
    process.off('exit', onExit)
  }
  const { ttl } = system.timeouts
  const { operations, notices } = mergeRecords(places.records)
  const title = `${system.title}, ${duration / 60_000} minutes, seed ${seed}, ${count} clients, ttl ${ttl} ms`
  const to = from + duration
  return {
    history: { title, clients: count, ttl, operations, notices, faults: deeds.faults, from, to },
    schedule,
    crashes: clients.flatMap(({ failures }) => failures),
    failures: [...deeds.failures, ...lost],
    leftOut: running.leftOut ?? [],
  }
}

function startClients(
  system: System,
  running: RunningSystem,
  { seed, clients: count, rate }: ChaosOptions,
  { program, records, until }: Places & { readonly until: number },
): ClientProcess[] {
  const random = new Random(seed).fork(1)
  const clients: ClientProcess[] = []
  for (let number = 1; number <= count; number += 1) {
    const drift = 1 + random.between(-MOST_DRIFT, MOST_DRIFT)
    const wallLead = random.between(-MOST_WALL_LEAD, MOST_WALL_LEAD)
    const common = { client: number, clients: count, names: NAMES, seed, rate: drift, wallLead, until }
    const own = { pace: USUAL_RATE / rate, timeouts: system.timeouts, system: running.settingsFor(number) }
    const settingsOf = (life: number): ClientSettings => {
      return { ...common, ...own, life, record: join(records, `client-${number}-life-${life}.jsonl`) }
    }
    const onGiven: ConstructorParameters<typeof ClientProcess>[0]['onGiven'] = (given) =>
      clients[given.to - 1]?.send(given)
    clients.push(
      new ClientProcess({ number, program, log: join(records, `client-${number}.log`), settingsOf, onGiven }),
    )
  }
  for (const client of clients) client.start()
  return clients
}
