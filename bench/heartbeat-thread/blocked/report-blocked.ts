import { setTimeout as pause } from 'node:timers/promises'
import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { machineTime } from '../../support/machine.js'
import { table } from '../../support/table.js'
import { type Contender, type Place, TTL } from '../contenders/contender.js'
import { contenders } from '../contenders/contenders.js'
import { type Block, blocks } from './block.js'
import { type BlockedTask, LOCKS, namesOf, openBlocked } from './hold-and-block.js'

const BLOCKED_TTLS = [0.5, 1, 2, 10]
/** From the requests of the second process to the block. */
const ASKING = 500
/** After the block, a lock that is lost is granted to the second process within this time. */
const GRANTING = 2 * TTL

/** The locks of one library after one block. */
interface Outcome {
  readonly contender: Contender
  readonly by: Block
  readonly ttls: number
  /** Granted to the second process. */
  readonly lost: number
  /** Of these, granted before the end of the block. */
  readonly taken: number
  /** Of those taken, held as the library said in the first instruction after the block. */
  readonly believed: number
}

const program = new URL('hold-and-block.ts', import.meta.url).href

/** One process holds the locks of all libraries and is blocked; this process waits for all of them. */
async function measure(task: BlockedTask): Promise<readonly Outcome[]> {
  const child = await Child.start(program, openBlocked, task)
  const grants = new Map<string, number>()
  const all = contenders()
  for (const contender of all) {
    const waiter = await contender.open(task.place, { role: 'waiter' })
    for (const name of namesOf(task, contender.id)) {
      const granted = waiter.hold(name).then(async ({ release }) => {
        grants.set(name, machineTime())
        await release()
      })
      // Some libraries reject the release of a lock that they take for expired.
      granted.catch(() => {})
    }
  }
  await pause(ASKING)
  const { at, believed } = await child.ask('block')
  await pause(GRANTING)
  const outcomes = all.map((contender) => {
    const names = namesOf(task, contender.id)
    const taken = names.filter((name) => (grants.get(name) ?? Number.POSITIVE_INFINITY) <= at)
    const lost = names.filter((name) => grants.has(name)).length
    const wrong = taken.filter((name) => believed.includes(name)).length
    return { contender, by: task.by, ttls: task.ttls, lost, taken: taken.length, believed: wrong }
  })
  await child.kill()
  return outcomes
}

export async function reportBlocked(place: Place): Promise<NumberReport> {
  const outcomes: Outcome[] = []
  const rows: string[][] = []
  for (const by of blocks) {
    for (const ttls of BLOCKED_TTLS) {
      const measured = await measure({ place, by, ttls })
      outcomes.push(...measured)
      rows.push([by, String(ttls), ...measured.map(({ lost }) => String(lost))])
      console.error(rows.at(-1)?.join(', '))
    }
  }
  const all = contenders()
  const sum = (figure: (outcome: Outcome) => number, of: Contender): number =>
    outcomes.filter(({ contender }) => contender.id === of.id).reduce((total, outcome) => total + figure(outcome), 0)
  const believed = all.map((contender) => {
    const [taken, wrong] = [sum((outcome) => outcome.taken, contender), sum((outcome) => outcome.believed, contender)]
    return [contender.label, String(taken), String(wrong)]
  })
  const locks = LOCKS * blocks.length * BLOCKED_TTLS.length
  return {
    title: 'Locks lost by a blocked process',
    body: [
      `A process holds ${LOCKS} locks of each library, with a ttl of ${TTL} ms. Then its event loop is blocked. A second process`,
      `waits for all of them. The table has the locks, of ${LOCKS}, that were granted to the second process until`,
      `${GRANTING / TTL} ttls after the block.`,
      '',
      table(`blocked by | for ttls | ${all.map(({ label }) => label).join(' | ')}`, rows),
      '',
      'The libraries have their default settings, except for the ttl, and for BullMQ the time between two looks for stalled jobs',
      '(1 s instead of 30 s). A lock of redlock is extended 500 ms before its end, and one of redis-semaphore after 80 % of its',
      'ttl. So a shorter block can end them.',
      '',
      'In the first instruction after the block, before any event is handled, the process asks each library whether it still',
      'holds. A wrong answer is "held" for a lock that the second process had already.',
      '',
      table('library | granted to the second process by then | wrong answers', believed),
    ].join('\n'),
    charts: [
      {
        title: `Locks lost by a blocked process, of ${locks} (ttl ${TTL} ms)`,
        bars: all.map((contender) => {
          const lost = sum((outcome) => outcome.lost, contender)
          return { label: contender.label, value: lost, ours: contender.ours }
        }),
      },
    ],
    failures: outcomes.flatMap(({ contender, by, ttls, lost, believed }) => {
      const where = `${contender.label}, ${by} for ${ttls} ttls`
      return [
        ...(contender.isThreaded && lost > 0 ? [`${where}: ${lost} leases lost`] : []),
        ...(contender.ours && believed > 0 ? [`${where}: ${believed} wrong answers`] : []),
      ]
    }),
  }
}
