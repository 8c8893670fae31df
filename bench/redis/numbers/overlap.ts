import { setTimeout as pause } from 'node:timers/promises'
import { TcpProxy } from '@leasehold/testkit'
import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { mapLimited } from '../../support/lanes.js'
import { largest, median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { unhandledRejections } from '../../support/unhandled-rejections.js'
import {
  type Contender,
  describe,
  type Held,
  holdSurely,
  nameOf,
  type Session,
  type Use,
} from '../contenders/contender.js'
import { contenderOf, contendersFor, type Task } from '../contenders/contenders.js'
import { Ticker } from '../ticker.js'

const TTL = 1_000
const RUNS = 100
/** For how long after the other's grant the holder is watched. */
const WATCHED = 6_000
const LONGEST_WAIT = 10_000
const SOON = 50
/** Between the starts of two runs of a batch. */
const RAMP = 10
/** What an overlap is counted as that only the very first look has found. */
const INSTANT = 0.001

const use = { purpose: 'overlap', ttl: TTL, waiters: 1 } as const
const holding: Use = { ...use, role: 'holder' }
const waiting: Use = { ...use, role: 'waiter' }

interface Overlap {
  readonly means: string
  /** From the other's grant to the last look that found the holder still believing; 0 where no look did. */
  readonly length: number
  /** It believed when watching ended. */
  readonly unended: boolean
}

interface Run {
  readonly overlaps: readonly Overlap[]
  /** Soon after its grant, the other's own library said that the lock was lost. */
  readonly lapsed: boolean
}

type Result = Awaited<ReturnType<typeof measureOverlap>>

/** In a process of its own: holder and contender have one clock, and are watched from one event loop. */
export async function measureOverlap({ contender: id, port }: Task) {
  const contender = contenderOf(id)
  const other = contender.open(port, waiting)
  const ticker = new Ticker()
  const runs: (Run | undefined)[] = []
  const holders: Session[] = []
  for (let first = 0; first < RUNS; first += contender.holders) {
    const batch = Array.from({ length: contender.holders }, async (_, place) => {
      const proxy = await TcpProxy.to(port)
      const holder = contender.open(proxy.port, holding)
      holders.push(holder)
      await holder.connected()
      await pause(place * RAMP)
      return await cutOff(holder, other, proxy, first + place, ticker, `overlap-${id}-${first + place}`)
    })
    runs.push(...(await Promise.all(batch)))
  }
  ticker.stop()
  const unhandled = unhandledRejections()
  // Not before: what a library makes of a closed connection is not what is asked here.
  for (const holder of holders) holder.disconnect()
  const granted = runs.filter((run) => run !== undefined)
  return {
    /** One list a run; none where the other was not granted the lock in time. */
    runs: granted.map(({ overlaps }) => overlaps),
    lapsed: granted.filter(({ lapsed }) => lapsed).length,
    notGranted: runs.length - granted.length,
    unhandled,
    /** Between two looks, in milliseconds. */
    gaps: { median: median(ticker.gaps), longest: largest(ticker.gaps) },
  }
}

async function cutOff(holder: Session, other: Session, proxy: TcpProxy, run: number, ticker: Ticker, name: string) {
  const held = await holdSurely(holder, name)
  // So that the cuts are spread over the time between two renewals.
  await pause(TTL / 2 + (TTL * ((run * 37) % RUNS)) / RUNS)
  proxy.blackHole()
  return await watch(held, other.hold(name), ticker)
}

async function watch(held: Held, otherHolds: Promise<Held>, ticker: Ticker): Promise<Run | undefined> {
  const granted = await Promise.race([otherHolds, pause(LONGEST_WAIT, undefined)])
  const start = performance.now()
  if (granted === undefined) return undefined
  const lengths = held.views.map((): number | undefined => undefined)
  const look = (): boolean => {
    const now = performance.now()
    const believing = held.views.map(({ believes }) => believes())
    for (const [place, believes] of believing.entries()) if (believes) lengths[place] = Math.max(now - start, INSTANT)
    return believing.includes(true) && now - start < WATCHED
  }
  // The first look is at the very instant at which the other may begin to work.
  if (look()) await ticker.every(look)
  await pause(SOON)
  const lapsed = granted.views.some(({ believes }) => !believes())
  // redlock with an unlimited wait releases without limit too where the lock is gone.
  await Promise.race([granted.release(), pause(TTL)])
  const overlaps = held.views.map(({ means }, place) => {
    const length = lengths[place] ?? 0
    return { means, length, unended: length >= WATCHED - 10 }
  })
  return { overlaps, lapsed }
}

export async function reportOverlap(port: number): Promise<NumberReport> {
  const contenders = contendersFor('overlap')
  const results = await mapLimited(contenders, 2, async (contender) => ({
    contender,
    result: await Child.measure(import.meta.url, measureOverlap, { contender: contender.id, port }),
  }))
  const views = results.flatMap(({ contender, result }) => viewsOf(contender, result))
  const head = 'library | what was asked | runs with an overlap | median, ms | longest, ms | settings of the holder'
  const gaps = results.map(({ result }) => result.gaps)
  const lapsed = results.filter(({ result }) => result.lapsed > 0)
  const unhandled = results.filter(({ result }) => result.unhandled > 0)
  return {
    title: 'Overlap: two who believe that they hold',
    body: [
      `The holder's connection is turned into a black hole; another waits for the lock, ttl ${TTL} ms. Overlap: for how long`,
      "after the other's acquire has resolved the holder's own library still says that it holds.",
      '',
      table(
        head,
        views.map(({ cells }) => cells),
      ),
      '',
      `${RUNS} runs each, watched for ${shown(WATCHED)} ms after the other's grant. The holder was looked`,
      `at when the other's acquire resolved, and then every ${shown(largest(gaps.map((gap) => gap.median)))} ms (median of the`,
      `slowest process); the longest pause between two looks was ${shown(largest(gaps.map(({ longest }) => longest)))} ms. Nothing was discarded.`,
      ...lapsed.map(
        ({ contender, result }) =>
          `${nameOf(contender)}: in ${result.lapsed} runs the other's lock was said to be lost as soon as it was granted.`,
      ),
      ...unhandled.map(
        ({ contender, result }) =>
          `${nameOf(contender)}: ${result.unhandled} rejections that no code could handle, each of which ends a Node process by default.`,
      ),
    ].join('\n'),
    failures: views
      .filter(({ ours, overlapping, runs }) => ours && (overlapping > 0 || runs < RUNS))
      .map(({ failure }) => failure),
    charts: [
      {
        title: `Longest overlap of ${RUNS} cut-offs, ms (ttl ${shown(TTL)} ms)`,
        bars: views.map(({ label, longest, unended, ours }) => ({
          label,
          value: longest,
          ...(unended > 0 ? { text: 'without end' } : {}),
          ours,
        })),
      },
    ],
  }
}

function viewsOf(contender: Contender, { runs, notGranted }: Result) {
  const [first = []] = runs
  return first.map(({ means }, place) => {
    const overlaps = runs.map((run) => run[place]).filter((overlap) => overlap !== undefined)
    const lengths = overlaps.map(({ length }) => length)
    const overlapping = lengths.filter((length) => length > 0).length
    const unended = overlaps.filter((overlap) => overlap.unended).length
    const longest = largest(lengths)
    const end = unended > 0 ? `no end within ${shown(WATCHED)} (${unended} runs)` : shown(longest)
    const missing = notGranted > 0 ? `, ${notGranted} never granted` : ''
    return {
      ours: contender.ours,
      label: `${contender.library}, ${contender.setting}: ${means.replaceAll('`', '')}`,
      runs: runs.length,
      overlapping,
      unended,
      longest,
      cells: [
        nameOf(contender),
        means,
        `${overlapping} of ${runs.length}${missing}`,
        shown(median(lengths)),
        end,
        describe(contender.settingsFor(holding)),
      ],
      failure: `overlap: ${means} of ours overlapped in ${overlapping} of ${runs.length} runs, ${notGranted} were never granted`,
    }
  })
}
