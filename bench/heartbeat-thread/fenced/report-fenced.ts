import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TcpProxy } from '@leasehold/testkit'
import type { NumberReport } from '../../support/benchmark.js'
import type { Chart } from '../../support/chart.js'
import { Child } from '../../support/child.js'
import { mapLimited } from '../../support/lanes.js'
import { machineTime } from '../../support/machine.js'
import { largest, median } from '../../support/statistics.js'
import { shown, table } from '../../support/table.js'
import { type Contender, type Holder, type Place, TTL } from '../contenders/contender.js'
import { contenders } from '../contenders/contenders.js'
import { type Code, DURATION, type FencedTask, openWorker } from './work-past-the-lock.js'

/** Of each contender, half of them with each kind of code. */
const RUNS = 100
/** Processes at a time. */
const TOGETHER = 12
/** For how long a heartbeat thread renews for a blocked process here, in milliseconds. */
const UNRESPONSIVE_AFTER = 500

const codes: readonly Code[] = ['blocks', 'ignores']

/** One row of the table. */
interface Scene {
  readonly contender: Contender
  readonly selfFence: 'exit' | 'kill' | undefined
}

/** The locks of one process. */
interface Batch {
  readonly scene: Scene
  readonly code: Code
  readonly names: readonly string[]
}

interface Overlaps {
  readonly scene: Scene
  /** In milliseconds. */
  readonly lengths: readonly number[]
}

interface Bench {
  readonly place: Place
  readonly waiters: ReadonlyMap<string, Holder>
}

const program = new URL('work-past-the-lock.ts', import.meta.url).href

/** A fence ends the process, so that each run needs one; without a fence, one process holds the locks of many runs. */
function batchesOf(scene: Scene): readonly Batch[] {
  return codes.flatMap((code) => {
    const runs = Array.from({ length: RUNS / codes.length }, (_, run) => run)
    const prefix = `${scene.contender.id}-${scene.selfFence ?? 'none'}-${code}`.replaceAll(/[@/ ]/g, '')
    const names = runs.map((run) => `${prefix}-${run}`)
    if (scene.selfFence === undefined) return [{ scene, code, names }]
    return names.map((name) => ({ scene, code, names: [name] }))
  })
}

/** The overlap of each lock of one process, in milliseconds. */
async function measure({ place, waiters }: Bench, { scene, code, names }: Batch): Promise<readonly number[]> {
  const { contender, selfFence } = scene
  const isCutOff = code === 'ignores' && contender.isOnRedis
  const proxy = isCutOff ? await TcpProxy.to(place.port) : undefined
  const file = join(mkdtempSync(join(place.folder, 'work-')), 'times')
  const task: FencedTask = {
    contender: contender.id,
    place: { ...place, port: proxy?.port ?? place.port },
    use: {
      role: 'holder',
      selfFence,
      unresponsiveAfter: code === 'blocks' && contender.isThreaded ? UNRESPONSIVE_AFTER : undefined,
      isNeverRenewed: code === 'ignores' && !isCutOff,
    },
    code,
    names,
    file,
  }
  const child = await Child.start(program, openWorker, task)
  proxy?.blackHole()
  // It has no answer, because the process ends first.
  child.ask('work').catch(() => {})
  const firstWork = names.map(async (name) => {
    const { release } = (await waiters.get(contender.id)?.hold(name)) ?? {}
    const at = machineTime()
    // It works, too, until the first process has ended.
    await child.exited
    release?.().catch(() => {})
    return at
  })
  const times = await Promise.all(firstWork)
  const signal = await child.exited
  await proxy?.close()
  const isFenced = selfFence !== undefined
  if (isFenced !== (signal === 'SIGKILL' || signal === 'SIGTERM')) {
    throw new Error(`a process of ${contender.label} with selfFence ${selfFence} was ended by ${signal}`)
  }
  const [lastWork = Number.NaN] = new Float64Array(new Uint8Array(readFileSync(file)).buffer)
  return times.map((at) => Math.max(lastWork - at, 0))
}

function scenes(): readonly Scene[] {
  return contenders().flatMap((contender) => {
    const fences = contender.ours ? ([undefined, 'exit', 'kill'] as const) : [undefined]
    return fences.map((selfFence) => ({ contender, selfFence }))
  })
}

/** The overlap of work, with and without a self-fence, as the page of the self-fence. */
export async function reportFenced(place: Place): Promise<NumberReport> {
  const waiters = new Map<string, Holder>()
  for (const contender of contenders()) waiters.set(contender.id, await contender.open(place, { role: 'waiter' }))
  const bench: Bench = { place, waiters }
  const batches = scenes().flatMap(batchesOf)
  // Those that last longest come first.
  const queue = batches.toSorted((a, b) => b.names.length - a.names.length)
  const measured = await mapLimited(queue, TOGETHER, async (batch) => ({ batch, lengths: await measure(bench, batch) }))
  const overlaps = scenes().map((scene) => ({
    scene,
    lengths: measured.filter(({ batch }) => labelOf(batch.scene) === labelOf(scene)).flatMap(({ lengths }) => lengths),
  }))
  return {
    title: 'Overlap of work',
    body: bodyOf(overlaps),
    charts: [chartOf(overlaps)],
    failures: overlaps.flatMap(failureOf),
  }
}

function labelOf({ contender, selfFence }: Scene): string {
  return selfFence === undefined ? contender.label : `${contender.label}, selfFence '${selfFence}'`
}

const overlapping = (lengths: readonly number[]): number => lengths.filter((length) => length > 0).length

function failureOf({ scene, lengths }: Overlaps): readonly string[] {
  const count = overlapping(lengths)
  return scene.selfFence !== undefined && count > 0 ? [`${labelOf(scene)}: ${count} processes overlapped`] : []
}

function chartOf(overlaps: readonly Overlaps[]): Chart {
  const bars = overlaps.map(({ scene, lengths }) => {
    const longest = largest(lengths)
    const text = scene.selfFence === undefined ? { text: 'until the work ends' } : {}
    return { label: labelOf(scene), value: longest, ...text, ours: scene.contender.ours }
  })
  return { title: `Longest overlap of work in ${RUNS} runs, ms (ttl ${TTL} ms)`, bars }
}

function bodyOf(overlaps: readonly Overlaps[]): string {
  const rows = overlaps.map(({ scene, lengths }) => [
    scene.contender.label,
    scene.selfFence === undefined ? 'none' : `\`${scene.selfFence}\``,
    `${overlapping(lengths)} of ${lengths.length}`,
    shown(median(lengths)),
    shown(largest(lengths)),
  ])
  return [
    table('library | `selfFence` | runs with an overlap | median, ms | longest, ms', rows),
    '',
    `The ttl is ${TTL} ms. The first process works for ${DURATION} ms, whatever happens to its lock, and writes the monotonic time of the`,
    'machine into a file every millisecond. The second process waits for the lock, and notes the time when it begins to work.',
    'The overlap is the time from then to the last time in the file. 0 means: after the second process had begun to work, the',
    'first one did not write any more. Without a fence it worked until the end of its time.',
    '',
    'In half of the runs, the code of the first process never yields, and so its lock is not renewed. A heartbeat thread then',
    `renews for \`unresponsiveAfter\`, here ${UNRESPONSIVE_AFTER} ms. In the other half, the code yields and ignores its signal. There the lock`,
    'ends because the connection to Redis is cut, or because the lease on this machine is not renewed.',
    '',
    `A process with a \`selfFence\` holds one lease. Without it, one process holds the locks of ${RUNS / codes.length} runs. ${TOGETHER} processes run at`,
    'a time. The libraries have their default settings, except for the ttl, and for BullMQ the time between two looks for stalled',
    'jobs (1 s instead of 30 s).',
  ].join('\n')
}
