import { setTimeout as pause } from 'node:timers/promises'
import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { mapLimited } from '../../support/lanes.js'
import { machineTime } from '../../support/machine.js'
import { largest, median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { type Contender, describe, type Held, holdSurely, nameOf, type Use } from '../contenders/contender.js'
import { contenderOf, contendersFor, type Task } from '../contenders/contenders.js'
import { openTaker } from '../taker.js'

const TTL = 1_000
const LOCKS = 20
/** For how long the event loop is blocked, in ttls. */
const BLOCKS = [0.5, 1, 2] as const
/** How long afterwards the holder may learn of the loss. */
const WATCHED = 1_500
/** Until the other process has asked for all of the locks. */
const ASKING = 400

const takerFile = new URL('../taker.ts', import.meta.url).href

const use = { purpose: 'event-loop-lag', ttl: TTL, waiters: 1 } as const
const holding: Use = { ...use, role: 'holder' }

/** One lock after one block of the event loop. */
interface Lag {
  readonly block: number
  readonly means: string
  /** What it said at the first instant afterwards, before anything else could run. */
  readonly saidHeld: boolean
  /** Another process had been granted it by then. */
  readonly taken: boolean
  /** From then to the library's own word of the loss, in milliseconds. */
  readonly learnt: number | undefined
}

/** In a process of its own: holds locks, and blocks its event loop. */
export async function openHolder({ contender, port }: Task) {
  const session = contenderOf(contender).open(port, holding)
  await session.connected()
  const learnt = new Map<string, number>()
  const locks: { readonly name: string; readonly held: Held }[] = []
  return {
    hold: async (names: readonly string[]): Promise<void> => {
      for (const name of names) {
        const held = await holdSurely(session, name)
        held.onLoss(() => learnt.set(name, machineTime()))
        locks.push({ name, held })
        // So that the renewals are spread over the ttl, and the block meets each of them at another point.
        await pause(TTL / LOCKS)
      }
    },
    block: async (ttls: number) => {
      const from = machineTime()
      while (machineTime() - from < ttls * TTL);
      const end = machineTime()
      const said = locks.map(({ held }) => held.views.map(({ believes }) => believes()))
      await pause(WATCHED)
      const views = locks.flatMap(({ name, held }, place) =>
        held.views.map(({ means }, view) => {
          const at = learnt.get(name)
          const saidHeld = said[place]?.[view] ?? false
          return { name, means, saidHeld, learnt: at === undefined ? undefined : at - end }
        }),
      )
      await Promise.allSettled(locks.splice(0).map(({ held }) => Promise.race([held.release(), pause(TTL)])))
      return { end, views }
    },
  }
}

async function measure(contender: string, port: number): Promise<readonly Lag[]> {
  const holder = await Child.start(import.meta.url, openHolder, { contender, port })
  const waiting: Use = { ...use, role: 'waiter' }
  const taker = await Child.start(takerFile, openTaker, { contender, port, use: waiting })
  const lags: Lag[] = []
  for (const block of BLOCKS) {
    const names = Array.from({ length: LOCKS }, (_, place) => `lag-${contender}-${block}-${place}`)
    await holder.ask('hold', names)
    await taker.ask('take', names)
    await pause(ASKING)
    const { end, views } = await holder.ask('block', block)
    const taken = new Map(await taker.ask('taken'))
    for (const { name, ...view } of views) {
      lags.push({ ...view, block, taken: (taken.get(name) ?? Number.POSITIVE_INFINITY) <= end })
    }
  }
  await taker.kill()
  await holder.kill()
  return lags
}

export async function reportEventLoopLag(port: number): Promise<NumberReport> {
  const results = await mapLimited(contendersFor('event-loop-lag'), 1, async (contender) => ({
    contender,
    lags: await measure(contender.id, port),
  }))
  const rows = results.flatMap(({ contender, lags }) => rowsOf(contender, lags))
  const head =
    'library | what was asked | blocked for | taken by another meanwhile | of these: said to be held | of those not taken: said to be held | notified of the loss after, ms: median | longest | settings of the holder'
  return {
    title: 'After a blocked event loop',
    body: [
      `A process that holds ${LOCKS} locks, ttl ${TTL} ms, is kept busy without a turn of its event loop; another process takes them`,
      'as they expire. What does the library say at the first instant afterwards, before any timer or answer could be',
      'handled, and when does it tell of the loss by itself (signal or callback)?',
      '',
      table(
        head,
        rows.map(({ cells }) => cells),
      ),
    ].join('\n'),
    failures: rows.filter(({ ours, isCheck, wrong }) => ours && isCheck && wrong > 0).map(({ failure }) => failure),
    charts: [
      {
        title: `Said to be held, but taken: of ${LOCKS} locks, after a block of 2 ttls`,
        bars: rows.filter(({ block }) => block === 2).map(({ label, wrong, ours }) => ({ label, value: wrong, ours })),
      },
    ],
  }
}

function rowsOf(contender: Contender, lags: readonly Lag[]) {
  const all = [...new Set(lags.map(({ means }) => means))]
  return BLOCKS.flatMap((block) =>
    all.map((means) => {
      const these = lags.filter((lag) => lag.block === block && lag.means === means)
      const taken = these.filter((lag) => lag.taken)
      const wrong = taken.filter(({ saidHeld }) => saidHeld).length
      const rest = these.filter((lag) => !lag.taken)
      const notified = taken.map(({ learnt }) => learnt).filter((learnt) => learnt !== undefined)
      const unnotified = taken.length - notified.length
      return {
        ours: contender.ours,
        isCheck: means !== '`signal`',
        label: `${contender.library}, ${contender.setting}: ${means.replaceAll('`', '')}`,
        block,
        wrong,
        cells: [
          nameOf(contender),
          means,
          `${block} ttl`,
          `${taken.length} of ${these.length}`,
          String(wrong),
          rest.length === 0 ? '–' : `${rest.filter(({ saidHeld }) => saidHeld).length} of ${rest.length}`,
          shown(median(notified)),
          unnotified > 0 ? `${unnotified} not notified within ${shown(WATCHED)}` : shown(largest(notified)),
          describe(contender.settingsFor(holding)),
        ],
        failure: `event-loop lag, ${block} ttl: ${means} said held of ${wrong} that another had`,
      }
    }),
  )
}
