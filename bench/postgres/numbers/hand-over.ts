import { setTimeout as pause } from 'node:timers/promises'
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
import { table } from '../../support/table.js'
import { nameOf } from '../contenders/contender.js'
import { contenderOf, contenders, type Task } from '../contenders/contenders.js'
import { ServerMeter } from '../server-meter.js'

const CONNECTIONS = 10
/** Between two that come, in milliseconds: each has its place before the next one comes. */
const ARRIVAL = 10
const GOAL = { waiters: 100, median: 5 }

/** Counts the transactions of the server. */
export async function measureHandOver({
  contender: id,
  url,
  queue,
}: Task & { readonly queue: Queue }): Promise<HandOvers> {
  const contender = contenderOf(id)
  // Each waiter of some contenders keeps a connection busy.
  const session = await contender.open(url, contender.ours ? CONNECTIONS : queue.waiters + 2)
  const meter = new ServerMeter(url)
  const waiting = {
    prefix: 'hand-over',
    hold: (name: string) => session.hold(name),
    arrive: async (begin: () => void) => {
      begin()
      await pause(ARRIVAL)
    },
    allWait: () => pause(20 * ARRIVAL),
    count: async () => [(await meter.read()).transactions],
    countsLastRelease: true,
  }
  return await measureHandOvers(waiting, queue)
}

export async function reportHandOver(url: string): Promise<NumberReport> {
  const sections: string[] = []
  const failures: string[] = []
  for (const queue of queues) {
    const { waiters } = queue
    const longestMedian = waiters === GOAL.waiters ? GOAL.median : Number.POSITIVE_INFINITY
    const rows: string[][] = []
    for (const contender of contenders().filter(({ mostWaiters }) => waiters <= mostWaiters)) {
      const result = await Child.measure(import.meta.url, measureHandOver, { contender: contender.id, url, queue })
      rows.push([nameOf(contender), ...cellsOf(result)])
      if (contender.ours) failures.push(...faultsOf(`hand-over with ${waiters} waiters`, result, longestMedian))
    }
    const head = 'contender | p50, ms | p99, ms | transactions a hand-over | inversions | served'
    sections.push(titleOf(queue), '', table(head, rows), '')
  }
  return {
    title: 'Hand-over: from a release to the next holder',
    body: [
      'From the call of the release to the moment when the next one holds. All waiters are in one process and came one after',
      `the other, every ${ARRIVAL} ms; each holds for ${WORK} ms and releases. Ours has ${CONNECTIONS} connections for all waiters; the others keep`,
      'one busy for each waiter, and are not measured with 1,000. Transactions are those of the whole server,',
      'which counts them some seconds late: the figures of short queues contain those that took the places, and miss the last',
      'ones. The connection for notifications counts one of its own for each that it receives. An inversion is a',
      'pair that was served in the other order than it came; on a busy machine, one may come before the one before it has its',
      'place in the queue.',
      '',
      ...sections,
    ].join('\n'),
    failures,
  }
}
