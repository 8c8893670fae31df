import { largest } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { WAITERS_A_SECOND } from '../holder/holder.js'
import type { StoreKind } from '../holder/open-store.js'
import { costOf, type Holding, type ProcessFigures } from '../numbers/holding.js'
import type { TakeOver } from '../numbers/take-over.js'
import { titles } from './results.js'

/** Of the 99th percentile of the delays of the event loop, in milliseconds. */
const LONGEST_DELAY = 20

/** How long after the ttl the last lease of a killed process may be taken over, in milliseconds. */
const LATEST_TAKE_OVER = 10_000

/** A mean over the leases of all processes. */
function perLease({ processes, task }: Holding, figure: (process: ProcessFigures) => number): number {
  return processes.reduce((sum, process) => sum + figure(process) * process.leases, 0) / task.leases
}

/** The processor time of all clients, in milliseconds. */
function clientCpu({ processes }: Holding): number {
  return processes.reduce((sum, { cpu }) => sum + cpu, 0)
}

/** The commands of one claim at a Redis, and of its place in line, at most. */
const COMMANDS = 12

/** How many claims a second of the take-over may have at most. */
function claimBound(kind: StoreKind, { task, takeOver }: Holding): number {
  if (takeOver === undefined) return Number.NaN
  const { processes, ttl, interval } = task
  // Heartbeats are spread over the interval, so that the busiest second has twice the mean at most; and so are expiries. All
  // leases of a process expire together on etcd, where they share one lease of the server.
  const expiring = kind === 'etcd' ? 1 : 2_000 / interval
  const starting = Math.min((processes - 1) * WAITERS_A_SECOND, takeOver.leases)
  const repeating = (takeOver.leases * 1_000) / Math.min(ttl / 4, 30_000)
  return takeOver.leases * expiring + starting + repeating
}

/** How many commands a second of the take-over may have at a Redis at most. */
function commandBound(holding: Holding): number {
  const { task, rate, takeOver } = holding
  const remaining = 1 - (takeOver?.leases ?? 0) / task.leases
  return rate.busiest * remaining + COMMANDS * claimBound('redis', holding)
}

/** The held leases of one store, with the goals that were missed. */
export function holdingSection(kind: StoreKind, holding: Holding): string {
  const { task, machine, date, load, processes, rate, commands, stored, acquiring, serverCpu } = holding
  const { ttl, interval, measured } = task
  const head = 'process | leases | lost | CPU of one core | delay p99, ms | longest delay, ms | heap a lease'
  const rows = processes.map((figures, place) => [
    String(place + 1),
    shown(figures.leases),
    shown(figures.lost),
    `${shown((figures.cpu / measured) * 100)} %`,
    shown(figures.delayP99),
    shown(figures.delayMax),
    `${shown(figures.heap)} bytes`,
    `${shown(figures.resident)} bytes`,
  ])
  const each = costOf(holding)
  const figures: string[][] = [
    ['leases lost', shown(processes.reduce((sum, { lost }) => sum + lost, 0))],
    ['leases valid at the end', shown(processes.reduce((sum, { valid }) => sum + valid, 0))],
    ['attempts that failed while acquiring', shown(processes.reduce((sum, { failures }) => sum + failures, 0))],
    ['to acquire them all', `${shown(acquiring / 1_000)} s`],
    ['CPU of all clients', `${shown((clientCpu(holding) / measured) * 100)} % of a core`],
    ['CPU of the clients for each interval of a lease', `${shown(each.clients)} µs`],
    ['heap of a lease', `${shown(perLease(holding, ({ heap }) => heap))} bytes`],
    ['resident memory of a lease', `${shown(perLease(holding, ({ resident }) => resident))} bytes`],
    ['space of a lease in the store', `${shown(stored)} bytes`],
  ]
  if (kind !== 'local') {
    figures.push(
      ['CPU of the server', `${shown((serverCpu / measured) * 100)} % of a core`],
      ['CPU of the server for each interval of a lease', `${shown(each.server)} µs`],
      [`${commands} a second: mean`, shown(rate.mean)],
      ['in the busiest second', `${shown(rate.busiest)}, ${shown(rate.busiest / rate.mean)} times the mean`],
    )
  }
  return [
    `## ${titles[kind]}: ${shown(task.leases)} leases in ${task.processes} processes`,
    '',
    `The ttl is ${shown(ttl / 1_000)} s, with a heartbeat every ${shown(interval / 1_000)} s. All were held for ${shown(measured / 60_000)} min.`,
    '',
    `Measured on ${date}: ${machine}, ${shown(load)} at the end.`,
    '',
    ...missed(kind, holding),
    table('figure | measured', figures),
    '',
    table(`${head} | resident a lease`, rows),
    '',
    ...(holding.takeOver === undefined ? [] : takeOverLines(kind, holding, holding.takeOver)),
  ].join('\n')
}

function takeOverLines(kind: StoreKind, holding: Holding, takeOver: TakeOver): string[] {
  const { task, commands } = holding
  const { leases, taken, median, longest, repeated, lost, failures, rate, delayMax } = takeOver
  const rows = [
    ['leases of the killed process', shown(leases)],
    ['taken over', shown(taken)],
    ['from the kill to a grant: median', `${shown(median / 1_000)} s`],
    ['from the kill to the last grant', `${shown(longest / 1_000)} s`],
    ['fencing tokens that did not grow', shown(repeated)],
    ['leases that the other processes lost meanwhile', shown(lost)],
    ['attempts that failed, and were repeated', shown(failures)],
    ['longest delay of an event loop', `${shown(delayMax)} ms`],
  ]
  if (kind !== 'local') {
    rows.push([`${commands} a second: mean`, shown(rate.mean)], ['in the busiest second', shown(rate.busiest)])
  }
  return [
    `Then one process was killed with SIGKILL. The ${task.processes - 1} others waited for its leases with \`acquire({ wait })\`, each`,
    `for its part; each process began with ${WAITERS_A_SECOND} of these waits in a second.`,
    '',
    table('take-over | measured', rows),
    '',
    `The bound is ${shown(claimBound(kind, holding))} claims in a second: those of the waiters that begin, of those that repeat their`,
    'claim (at most every quarter of the ttl, and every 30 s where it is longer than two minutes), and of those whose lease expires.',
    'Claims and heartbeats share the processors of this machine: where they need more of them than there are, heartbeats come too',
    'late, and leases are lost.',
    ...(kind === 'redis'
      ? [
          `With at most ${COMMANDS} commands for each claim, and with the heartbeats that remain, these are ${shown(commandBound(holding))} commands.`,
        ]
      : []),
    '',
  ]
}

/** A sentence for each goal that was missed, as a list. */
function missed(kind: StoreKind, holding: Holding): string[] {
  const { processes, rate, takeOver, task } = holding
  const faults: string[] = []
  const miss = (isMissed: boolean, text: string): void => {
    if (isMissed) faults.push(`- ${text}`)
  }
  const lost = processes.reduce((sum, process) => sum + process.lost, 0)
  miss(lost > 0, `${shown(lost)} leases were lost.`)
  const delay = largest(processes.map(({ delayP99 }) => delayP99))
  miss(
    delay >= LONGEST_DELAY,
    `A process has a p99 delay of ${shown(delay)} ms; the goal is less than ${LONGEST_DELAY} ms.`,
  )
  const peak = rate.busiest / rate.mean
  miss(peak > 2, `The busiest second has ${shown(peak)} times the mean; the goal is 2 at most.`)
  if (takeOver !== undefined) {
    const late = takeOver.longest - task.ttl
    miss(takeOver.taken < takeOver.leases, `${shown(takeOver.leases - takeOver.taken)} leases were not taken over.`)
    miss(
      late > LATEST_TAKE_OVER,
      `The last lease was taken over ${shown(late / 1_000)} s after the ttl; the goal is 10 s.`,
    )
    miss(takeOver.repeated > 0, `${shown(takeOver.repeated)} fencing tokens did not grow.`)
    miss(takeOver.lost > 0, `The other processes lost ${shown(takeOver.lost)} leases during the take-over.`)
    const isAbove = kind === 'redis' && takeOver.rate.busiest > commandBound(holding)
    miss(isAbove, 'The busiest second of the take-over is above its bound.')
  }
  return faults.length === 0 ? [] : ['Goals that were missed in this run:', '', ...faults, '']
}
