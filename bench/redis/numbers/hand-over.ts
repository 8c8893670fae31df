import { setTimeout as pause } from 'node:timers/promises'
import { mapLimited, measureInChild } from '../child-process.js'
import { type Contender, describe, type Held, type Session, type Use } from '../contenders/contender.js'
import { contenderOf, contendersFor } from '../contenders/contenders.js'
import { chartOf, type NumberReport } from '../report/number-report.js'
import { nameOf, shown, table } from '../report/table.js'
import { SentCommands } from '../sent-commands.js'
import { ServerMeter } from '../server-meter.js'
import { inversions, median, percentile } from '../statistics.js'

const TTL = 30_000
/** For how long each holds before it releases, in milliseconds. */
const WORK = 5
const CLIENTS = 4
/** How many wait, and how often that is done. */
const QUEUES = [
  { waiters: 1, rounds: 20 },
  { waiters: 10, rounds: 8 },
  { waiters: 100, rounds: 3 },
  { waiters: 1_000, rounds: 1 },
] as const
/** Of all rounds of one queue together. */
const TIME_LIMIT = 60_000
/** What a waiter's first request is waited for, should it not be seen. */
const UNSEEN = 20

const BOUNDED_WAITERS = 100
const LONGEST_MEDIAN = 2
const MOST_COMMANDS = 8

interface Task {
  readonly contender: string
  readonly port: number
  readonly waiters: number
  readonly rounds: number
}

interface Result {
  readonly latencies: readonly number[]
  readonly inversions: number
  readonly served: number
  readonly asked: number
  /** Commands that the clients sent, and that the server executed: from the first release to the last grant. */
  readonly sent: number
  readonly executed: number
}

interface Round {
  readonly latencies: number[]
  readonly order: number[]
}

export async function measureHandOver({ contender: id, port, waiters, rounds }: Task): Promise<Result> {
  const contender = contenderOf(id)
  const sent = new SentCommands()
  const meter = new ServerMeter(port)
  const use: Use = { purpose: 'hand-over', role: 'waiter', ttl: TTL, waiters }
  const sessions = Array.from({ length: CLIENTS }, () => contender.open(port, use))
  const sum = { latencies: [] as number[], inversions: 0, served: 0, asked: 0, sent: 0, executed: 0 }
  await warmUp(sessions, `hand-over-${id}-${waiters}`, sent)
  const end = performance.now() + TIME_LIMIT
  for (let round = 0; round < rounds && sum.served === sum.asked; round += 1) {
    const line = await lineUp(sessions, `hand-over-${id}-${waiters}-${round}`, waiters, sent)
    const before = { sent: sent.count, executed: (await meter.read()).commands }
    const { latencies, order } = await line.serve(Math.max(end - performance.now(), 0))
    sum.sent += sent.count - before.sent
    sum.executed += (await meter.read()).commands - before.executed
    if (order.length === waiters) await line.end()
    sum.latencies.push(...latencies)
    sum.inversions += inversions(order)
    sum.served += order.length
    sum.asked += waiters
  }
  return sum
}

/** What a client does once (scripts, subscriptions) is neither counted nor taken for the request of a waiter. */
async function warmUp(sessions: readonly Session[], name: string, sent: SentCommands): Promise<void> {
  const waiters = 2 * sessions.length
  const line = await lineUp(sessions, `${name}-warm-up`, waiters, sent)
  const { order } = await line.serve(TIME_LIMIT)
  if (order.length < waiters) throw new Error(`${waiters} waiters were not served within ${TIME_LIMIT} ms`)
  await line.end()
}

/** One holds, and the others come one after the other: each when the first request of the last has been answered. */
async function lineUp(sessions: readonly Session[], name: string, waiters: number, sent: SentCommands) {
  const [first] = sessions
  if (first === undefined) throw new Error('there are clients')
  const holder = await first.hold(name)
  const round: Round = { latencies: [], order: [] }
  let releasedAt = Number.NaN
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const release = async (held: Held): Promise<void> => {
    releasedAt = performance.now()
    await held.release()
  }
  const serve = async (index: number, waiting: Promise<Held>): Promise<void> => {
    const held = await waiting
    round.latencies.push(performance.now() - releasedAt)
    round.order.push(index)
    if (round.order.length === waiters) finish()
    await pause(WORK)
    await release(held)
  }
  const serving: Promise<void>[] = []
  for (let index = 0; index < waiters; index += 1) {
    const session = sessions[(index + 1) % sessions.length] ?? first
    await sent.untilAnswered(() => serving.push(serve(index, session.hold(name))), UNSEEN)
  }
  return {
    serve: async (limit: number): Promise<Round> => {
      sent.stopFollowing()
      await release(holder)
      await Promise.race([finished, pause(limit)])
      return { latencies: [...round.latencies], order: [...round.order] }
    },
    end: async (): Promise<void> => {
      await Promise.all(serving)
    },
  }
}

export async function reportHandOver(port: number): Promise<NumberReport> {
  const tasks = contendersFor('hand-over').flatMap((contender) => QUEUES.map((queue) => ({ contender, ...queue })))
  const results = await mapLimited(tasks, 1, async ({ contender, ...queue }) => ({
    contender,
    waiters: queue.waiters,
    result: await measureInChild<Result>('hand-over', { contender: contender.id, port, ...queue }),
  }))
  const head = [
    'library',
    'p50, ms',
    'p99, ms',
    'commands sent a hand-over',
    'commands executed a hand-over',
    'inversions',
    'served',
    'settings',
  ]
  const tables = QUEUES.flatMap(({ waiters, rounds }) => [
    `### ${shown(waiters)} ${waiters === 1 ? 'waiter' : 'waiters'}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`,
    '',
    table(
      head,
      results
        .filter((entry) => entry.waiters === waiters)
        .map(({ contender, result }) => rowOf(contender, waiters, result)),
    ),
    '',
  ])
  const bounded = results.filter(({ waiters }) => waiters === BOUNDED_WAITERS)
  return {
    title: 'Hand-over: from a release to the next holder',
    body: [
      'From the call of the release to the resolution of the next acquire. All waiters are in one process, over',
      `${CLIENTS} clients, and came one after the other, each when the first request of the last had been answered; each holds`,
      `for ${WORK} ms and releases; ttl ${shown(TTL)} ms. Commands are counted from the first release to the last grant: what the`,
      'clients sent (a script is one command), and what the server executed (what scripts call is counted too). Those who',
      'poll send them also while the others work. An inversion is a pair that was served in the other order than it came.',
      '',
      ...tables,
    ].join('\n'),
    failures: bounded.filter(({ contender }) => contender.ours).flatMap(({ result }) => failuresOf(result)),
    charts: [
      chartOf(`Hand-over with ${BOUNDED_WAITERS} waiters, p50, ms`, bounded, ({ result }) => median(result.latencies)),
      chartOf(
        `Commands sent a hand-over, ${BOUNDED_WAITERS} waiters`,
        bounded,
        ({ result }) => result.sent / result.served,
      ),
    ],
  }
}

function rowOf(contender: Contender, waiters: number, result: Result): string[] {
  const { latencies, sent, executed, served, asked } = result
  return [
    nameOf(contender),
    shown(median(latencies)),
    shown(percentile(latencies, 0.99)),
    shown(sent / served),
    shown(executed / served),
    shown(result.inversions),
    served === asked ? 'all' : `${shown(served)} of ${shown(asked)} in ${TIME_LIMIT / 1_000} s`,
    describe(contender.settingsFor({ purpose: 'hand-over', role: 'waiter', ttl: TTL, waiters })),
  ]
}

function failuresOf({ latencies, sent, served, asked, inversions: wrong }: Result): string[] {
  const where = `hand-over at ${BOUNDED_WAITERS} waiters`
  const failures: string[] = []
  if (!(median(latencies) < LONGEST_MEDIAN)) {
    failures.push(`${where}: p50 ${shown(median(latencies))} ms, not below ${LONGEST_MEDIAN} ms`)
  }
  if (!(sent / served < MOST_COMMANDS)) {
    failures.push(`${where}: ${shown(sent / served)} commands, not below ${MOST_COMMANDS}`)
  }
  if (wrong > 0) failures.push(`${where}: ${wrong} inversions`)
  if (served < asked) failures.push(`${where}: ${served} of ${asked} served`)
  return failures
}
