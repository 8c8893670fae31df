import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import {
  cellsOf,
  faultsOf,
  type HandOvers,
  measureHandOvers,
  type Queue,
  queues,
  titleOf,
  WORK,
} from '../../support/hand-over.js'
import { mapLimited } from '../../support/lanes.js'
import { median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { chartOf, describe, nameOf, type Use } from '../contenders/contender.js'
import { contenderOf, contendersFor, type Task } from '../contenders/contenders.js'
import { SentCommands } from '../sent-commands.js'
import { ServerMeter } from '../server-meter.js'

const TTL = 30_000
const CLIENTS = 4
/** What a waiter's first request is waited for, should it not be seen. */
const UNSEEN = 20

const BOUNDED_WAITERS = 100
const LONGEST_MEDIAN = 2
const MOST_COMMANDS = 8

function useWith(waiters: number): Use {
  return { purpose: 'hand-over', role: 'waiter', ttl: TTL, waiters }
}

/** Counts the commands that the clients sent, and those that the server executed. */
export async function measureHandOver({
  contender: id,
  port,
  queue,
}: Task & { readonly queue: Queue }): Promise<HandOvers> {
  const contender = contenderOf(id)
  const sent = new SentCommands()
  const meter = new ServerMeter(port)
  const sessions = Array.from({ length: CLIENTS }, () => contender.open(port, useWith(queue.waiters)))
  const waiting = {
    prefix: `hand-over-${id}`,
    hold: async (name: string, place: number) => {
      const held = await sessions[place % CLIENTS]?.hold(name)
      return async () => held?.release()
    },
    // When the first request has been answered.
    arrive: (begin: () => void) => sent.untilAnswered(begin, UNSEEN),
    allWait: () => sent.stopFollowing(),
    count: async () => [sent.count, (await meter.read()).commands],
    countsLastRelease: false,
  }
  return await measureHandOvers(waiting, queue)
}

export async function reportHandOver(port: number): Promise<NumberReport> {
  const tasks = contendersFor('hand-over').flatMap((contender) => queues.map((queue) => ({ contender, queue })))
  const results = await mapLimited(tasks, 1, async ({ contender, queue }) => ({
    contender,
    queue,
    result: await Child.measure(import.meta.url, measureHandOver, { contender: contender.id, port, queue }),
  }))
  const head =
    'library | p50, ms | p99, ms | commands sent a hand-over | commands executed a hand-over | inversions | served | settings'
  const tables = queues.flatMap((queue) => {
    const rows = results
      .filter((entry) => entry.queue === queue)
      .map(({ contender, result }) => [
        nameOf(contender),
        ...cellsOf(result),
        describe(contender.settingsFor(useWith(queue.waiters))),
      ])
    return [titleOf(queue), '', table(head, rows), '']
  })
  const bounded = results.filter(({ queue }) => queue.waiters === BOUNDED_WAITERS)
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
      chartOf(`Commands sent a hand-over, ${BOUNDED_WAITERS} waiters`, bounded, ({ result }) => sentOf(result)),
    ],
  }
}

/** Commands that the clients sent for each hand-over. */
function sentOf({ counted: [sent = Number.NaN], served }: HandOvers): number {
  return sent / served
}

function failuresOf(result: HandOvers): readonly string[] {
  const where = `hand-over at ${BOUNDED_WAITERS} waiters`
  const sent = sentOf(result)
  return [
    ...faultsOf(where, result, LONGEST_MEDIAN),
    ...(sent < MOST_COMMANDS ? [] : [`${where}: ${shown(sent)} commands, not below ${MOST_COMMANDS}`]),
  ]
}
