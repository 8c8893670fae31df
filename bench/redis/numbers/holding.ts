import { setTimeout as pause } from 'node:timers/promises'
import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { growthOf } from '../../support/counters.js'
import { mapLimited } from '../../support/lanes.js'
import { collectedMemory } from '../../support/memory.js'
import { processorTime } from '../../support/processor-time.js'
import { shown, table } from '../../support/table.js'
import { chartOf, describe, nameOf, type Use } from '../contenders/contender.js'
import { contenderOf, contendersFor, type Task } from '../contenders/contenders.js'
import { SentCommands } from '../sent-commands.js'
import { ServerMeter } from '../server-meter.js'

const TTL = 30_000
const LEASES = 10_000
const AT_ONCE = 100
/** So that renewals every 9 s, and every 24 s, come a whole number of times. */
const WINDOW = 72_000
const MINUTES = WINDOW / 60_000

const use: Use = { purpose: 'holding', role: 'holder', ttl: TTL, waiters: 0 }

export async function measureHolding({ contender: id, port }: Task) {
  const sent = new SentCommands()
  const meter = new ServerMeter(port)
  const session = contenderOf(id).open(port, use)
  const names = Array.from({ length: LEASES }, (_, place) => `holding-${id}-${place}`)
  // What is loaded and made on first use is not what a lease costs.
  await (await session.hold(`holding-${id}-first`)).release()
  const empty = collectedMemory().heap
  const held = await mapLimited(names, AT_ONCE, (name) => session.hold(name))
  const read = async () => ({ client: processorTime(), sent: sent.count, ...(await meter.read()) })
  return {
    /** Bytes, at the beginning. */
    heap: (collectedMemory().heap - empty) / LEASES,
    /**
     * Just after all were acquired: V8 still compiles what has become hot, and collects what acquiring has left. Who holds
     * for hours pays that once.
     */
    first: await growthOf(read, () => pause(WINDOW)),
    steady: await growthOf(read, () => pause(WINDOW)),
    stillHeld: held.filter(({ views }) => views.every(({ believes }) => believes())).length,
  }
}

export async function reportHolding(port: number): Promise<NumberReport> {
  // One after the other: the processor time of the server is that of one library only.
  const results = await mapLimited(contendersFor('holding'), 1, async (contender) => ({
    contender,
    result: await Child.measure(import.meta.url, measureHolding, { contender: contender.id, port }),
  }))
  const head =
    'library | client CPU, ms a minute | client CPU, ms of the first minute | server CPU, ms a minute | commands sent a minute | commands executed a minute | heap a lease, bytes | still held | settings'
  const rows = results.map(({ contender, result }) => [
    nameOf(contender),
    shown(result.steady.client / MINUTES),
    shown(result.first.client / MINUTES),
    shown(result.steady.cpu / MINUTES),
    shown(result.steady.sent / MINUTES),
    shown(result.steady.commands / MINUTES),
    shown(result.heap),
    shown(result.stillHeld),
    describe(contender.settingsFor(use)),
  ])
  return {
    title: `Cost of holding ${shown(LEASES)} leases`,
    body: [
      `Each is renewed by its library, ttl ${shown(TTL)} ms; one client. The first minute is measured over the`,
      `${WINDOW / 1_000} s after the last was acquired, in which Node also compiles and collects garbage; the rest over the ${WINDOW / 1_000} s after that.`,
      'How often a library renews decides what it costs, and how long an outage may last that it survives: as they come,',
      'redlock renews when 0.5 s of the ttl are left, redis-semaphore and redlock-universal at 0.8 of it. Renewed every 9 s like',
      'ours are `tuned` redlock and redis-semaphore; of redlock-universal the rhythm cannot be set.',
      '',
      table(head, rows),
    ].join('\n'),
    failures: results
      .filter(({ contender, result }) => contender.ours && result.stillHeld < LEASES)
      .map(({ result }) => `holding: ${result.stillHeld} of ${LEASES} still held at the end`),
    charts: [
      chartOf(
        `Client CPU of ${shown(LEASES)} held leases, ms a minute`,
        results,
        ({ result }) => result.steady.client / MINUTES,
      ),
      chartOf('Heap a held lease, bytes', results, ({ result }) => result.heap),
    ],
  }
}
