import { setTimeout as pause } from 'node:timers/promises'
import { shown, table } from '../../redis/report/table.js'
import { inversions, median, percentile } from '../../redis/statistics.js'
import { measureInChild } from '../child-process.js'
import { contenderOf, contenders } from '../contenders/contenders.js'
import type { NumberReport } from '../report/number-report.js'
import { ServerMeter } from '../server-meter.js'

/** For how long each holds before it releases, in milliseconds. */
const WORK = 5
const CONNECTIONS = 10
/** How many wait, and how often that is done. */
const QUEUES = [
  { waiters: 1, rounds: 20 },
  { waiters: 10, rounds: 8 },
  { waiters: 100, rounds: 3 },
  { waiters: 1_000, rounds: 1 },
] as const
/** Of all rounds of one queue together. */
const TIME_LIMIT = 60_000
/** Between two that come, in milliseconds: each has its place before the next one comes. */
const ARRIVAL = 10
const GOAL = { waiters: 100, median: 5 }

interface Task {
  readonly contender: string
  readonly url: string
  readonly waiters: number
  readonly rounds: number
}

interface Result {
  readonly latencies: readonly number[]
  readonly inversions: number
  readonly served: number
  readonly asked: number
  /** Of the server, from the first release to the last grant. */
  readonly transactions: number
}

export async function measureHandOver({ contender: id, url, waiters, rounds }: Task): Promise<Result> {
  const contender = contenderOf(id)
  // Each waiter of some contenders keeps a connection busy.
  const connections = contender.ours ? CONNECTIONS : waiters + 2
  const session = await contender.open(url, connections)
  const meter = new ServerMeter(url)
  const sum = { latencies: [] as number[], inversions: 0, served: 0, asked: 0, transactions: 0 }
  const end = performance.now() + TIME_LIMIT
  for (let round = 0; round <= rounds && sum.served === sum.asked; round += 1) {
    // The first round is not counted: it opens connections and compiles the code.
    const count = round === 0 ? Math.min(waiters, 8) : waiters
    const result = await serve(
      session,
      `hand-over-${waiters}-${round}`,
      count,
      meter,
      Math.max(end - performance.now(), 0),
    )
    if (round === 0) continue
    sum.latencies.push(...result.latencies)
    sum.inversions += inversions(result.order)
    sum.served += result.order.length
    sum.asked += waiters
    sum.transactions += result.transactions
  }
  return sum
}

type Session = Awaited<ReturnType<(typeof contenders)[number]['open']>>

/** One holds, the others come one after the other, and each holds in its turn. */
async function serve(session: Session, name: string, waiters: number, meter: ServerMeter, limit: number) {
  const [latencies, order]: [number[], number[]] = [[], []]
  let releasedAt = Number.NaN
  const turn = async (index: number): Promise<void> => {
    const release = await session.hold(name)
    latencies.push(performance.now() - releasedAt)
    order.push(index)
    await pause(WORK)
    releasedAt = performance.now()
    await release()
  }
  const first = await session.hold(name)
  const turns: Promise<void>[] = []
  for (let index = 0; index < waiters; index += 1) {
    turns.push(turn(index))
    await pause(ARRIVAL)
  }
  await pause(20 * ARRIVAL)
  const before = await meter.read()
  releasedAt = performance.now()
  await first()
  await Promise.race([Promise.all(turns), pause(limit)])
  const after = await meter.read()
  return { latencies: [...latencies], order: [...order], transactions: after.transactions - before.transactions }
}

export async function reportHandOver(url: string): Promise<NumberReport> {
  const sections: string[] = []
  const failures: string[] = []
  for (const { waiters, rounds } of QUEUES) {
    const rows: string[][] = []
    for (const { id, name, ours } of contenders.filter(({ mostWaiters }) => waiters <= mostWaiters)) {
      const result = await measureInChild<Result>('hand-over', { contender: id, url, waiters, rounds })
      rows.push([ours ? `**${name}**` : name, ...cellsOf(result)])
      if (ours) failures.push(...failuresOf(waiters, result))
    }
    const head = ['contender', 'p50, ms', 'p99, ms', 'transactions a hand-over', 'inversions', 'served']
    sections.push(
      `### ${shown(waiters)} ${waiters === 1 ? 'waiter' : 'waiters'}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`,
      '',
      table(head, rows),
      '',
    )
  }
  return {
    title: 'Hand-over: from a release to the next holder',
    body: [
      'From the call of the release to the moment when the next one holds. All waiters are in one process and came one after',
      `the other, every ${ARRIVAL} ms; each holds for ${WORK} ms and releases. Ours has ${CONNECTIONS} connections for all waiters; the others keep`,
      'one busy for each waiter, and are not measured with 1,000. Transactions are those of the whole server. An inversion is a',
      'pair that was served in the other order than it came; on a busy machine, one may come before the one before it has its',
      'place in the queue.',
      '',
      ...sections,
    ].join('\n'),
    failures,
  }
}

function cellsOf({ latencies, transactions, served, asked, inversions: wrong }: Result): string[] {
  return [
    shown(median(latencies)),
    shown(percentile(latencies, 0.99)),
    shown(transactions / served),
    shown(wrong),
    served === asked ? 'all' : `${shown(served)} of ${shown(asked)} in ${TIME_LIMIT / 1_000} s`,
  ]
}

function failuresOf(waiters: number, { latencies, served, asked, inversions: wrong }: Result): string[] {
  const where = `hand-over with ${waiters} waiters`
  const failures: string[] = []
  const p50 = median(latencies)
  if (waiters === GOAL.waiters && !(p50 < GOAL.median))
    failures.push(`${where}: p50 ${shown(p50)} ms, not below ${GOAL.median} ms`)
  if (wrong > 0) failures.push(`${where}: ${wrong} inversions`)
  if (served < asked) failures.push(`${where}: ${served} of ${asked} served`)
  return failures
}
