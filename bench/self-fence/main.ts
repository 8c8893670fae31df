/**
 * Two processes that ignore every signal: for how long the first one works after the second one was granted the lease.
 * Prints the table, and fails where a process with a self-fence overlaps. `--write` writes the page into `docs`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { build } from 'esbuild'
import { type Code, type HolderTask, machineTime, TTL } from './task.js'

const RUNS = 100
/** Processes at a time. */
const TOGETHER = 10

interface Scene {
  readonly fence: 'kill' | undefined
  readonly code: Code
}

interface Bench {
  readonly folder: string
  readonly program: string
  readonly store: LocalLeaseStore
}

/** The overlap of each lease of one process, in milliseconds. */
async function measureProcess(bench: Bench, scene: Scene, names: readonly string[]): Promise<number[]> {
  const { folder, program, store } = bench
  const file = join(folder, `${names[0]}.work`)
  const task: HolderTask = { ...scene, folder: join(folder, 'leases'), names, file }
  const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([heldBy(child), ended.then(() => Promise.reject(new Error('the holder ended early')))])
  const grants = names.map(async (name) => {
    const lease = createLease(store, name, { heartbeatTimeout: TTL })
    await lease.acquire({ wait: Number.POSITIVE_INFINITY })
    const at = machineTime()
    // It works, too, until the other process has ended.
    await ended
    await lease.release()
    return at
  })
  const times = await Promise.all(grants)
  const [lastWork = Number.NaN] = new Float64Array(new Uint8Array(readFileSync(file)).buffer)
  return times.map((at) => Math.max(lastWork - at, 0))
}

async function heldBy({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('the process has no output')
  await once(stdout, 'data')
}

/** A fence ends the process, so that each run needs one; without a fence, one process holds all leases. */
async function measureScene(bench: Bench, scene: Scene): Promise<number[]> {
  const name = (run: number): string => `${scene.code}-${scene.fence ?? 'none'}-${run}`
  const names = Array.from({ length: RUNS }, (_, run) => name(run))
  if (scene.fence === undefined) return await measureProcess(bench, scene, names)
  const overlaps: number[] = []
  const queue = [...names]
  const workThrough = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      overlaps.push(...(await measureProcess(bench, scene, [next])))
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, workThrough))
  return overlaps
}

const scenes: readonly Scene[] = (['blocks', 'ignores'] as const).flatMap((code) => [
  { code, fence: undefined },
  { code, fence: 'kill' as const },
])

const words: Readonly<Record<Code, string>> = {
  blocks: 'never yields',
  ignores: 'yields, and ignores the signal of its `run`',
}

function row({ code, fence }: Scene, overlaps: readonly number[]): string {
  const sorted = overlaps.toSorted((a, b) => a - b)
  const [median = 0, longest = 0] = [sorted[sorted.length >> 1], sorted.at(-1)]
  const overlapping = overlaps.filter((overlap) => overlap > 0).length
  const cells = [words[code], fence === undefined ? 'none' : `\`${fence}\``]
  return `| ${[...cells, `${overlapping} of ${overlaps.length}`, median.toFixed(0), longest.toFixed(0)].join(' | ')} |`
}

async function main(write: boolean): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  const program = join(folder, 'holder.cjs')
  await build({
    entryPoints: [fileURLToPath(new URL('holder.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    conditions: ['@leasehold/source'],
    logOverride: { 'empty-import-meta': 'silent' },
  })
  const store = new LocalLeaseStore({ folder: join(folder, 'leases') })
  const rows: string[] = []
  let fenced = 0
  for (const scene of scenes) {
    const overlaps = await measureScene({ folder, program, store }, scene)
    rows.push(row(scene, overlaps))
    console.log(rows.at(-1))
    if (scene.fence !== undefined) fenced += overlaps.filter((overlap) => overlap > 0).length
  }
  await store.close()
  rmSync(folder, { recursive: true })
  if (write) writeFileSync(new URL('../../docs/benchmarks-self-fence.md', import.meta.url), page(rows))
  if (fenced > 0) console.error(`Bound not kept: ${fenced} processes with a self-fence overlapped`)
  process.exitCode = fenced === 0 ? 0 : 1
}

function page(rows: readonly string[]): string {
  const [cpu] = cpus()
  const machine = `Node ${process.version}, ${process.platform} ${release()}, ${cpus().length} × ${cpu?.model.trim()}`
  return [
    '# Benchmark of the self-fence',
    '',
    'Two processes that ignore every signal: for how long the first one works after the second one was granted the lease.',
    'Measured by `npm run bench:self-fence -- --write`, with leases of `@leasehold/local`.',
    '',
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}. The load of the machine was ${loadavg()[1]?.toFixed(0)}.`,
    '',
    '| code of the first process | `selfFence` | runs with an overlap | median, ms | longest, ms |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    `The ttl is ${TTL} ms, and the first process never renews its leases. It works for ${2.5 * TTL} ms, and writes the`,
    "monotonic time of the machine into a file every millisecond. The overlap is the time from the second process's grant to",
    `the last time in the file. ${RUNS} leases each. A process with a \`selfFence\` holds one lease, and ${TOGETHER} of them run at`,
    'a time. Without it, one process holds all leases, and its overlap has no end but that of its work.',
    '',
  ].join('\n')
}

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } })
await main(values.write)
