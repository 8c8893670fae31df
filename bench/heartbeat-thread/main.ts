/**
 * How many leases a process loses while its event loop is blocked, with and without a heartbeat thread, and the cost of the
 * thread. Prints the tables; `--write` writes the page into `docs`.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { buildProgram } from './build-program.js'
import { blocks, type Cost, type Task, TTL } from './task.js'

/** Leases of each process that is blocked. */
const LEASES = 20
const BLOCKED_TTLS = [0.5, 1, 2, 10]
const COUNTS = [1, 1_000, 100_000]
const SECONDS = 20

async function run(program: string, task: Task): Promise<unknown> {
  const args = ['--expose-gc', '--max-old-space-size=4096', program, JSON.stringify(task)]
  const { stdout } = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await text(stdout))
}

async function lossRows(program: string, folder: string): Promise<string[]> {
  const rows: string[] = []
  for (const block of blocks) {
    for (const ttls of BLOCKED_TTLS) {
      const lost = async (isThreaded: boolean): Promise<string> => {
        const task: Task = { type: 'blocked', isThreaded, block, ttls, folder, leases: LEASES }
        return `${await run(program, task)} of ${LEASES}`
      }
      rows.push(`| ${block} | ${ttls} | ${await lost(false)} | ${await lost(true)} |`)
      console.log(rows.at(-1))
    }
  }
  return rows
}

async function costRows(program: string): Promise<string[]> {
  const rows: string[] = []
  for (const leases of COUNTS) {
    for (const isThreaded of [false, true]) {
      const cost = (await run(program, { type: 'cost', isThreaded, leases, seconds: SECONDS })) as Cost
      const figures = [cost.start, cost.memory, cost.cpu, cost.checkLease].map((figure) =>
        figure.toFixed(figure < 10 ? 1 : 0),
      )
      rows.push(
        `| ${[leases.toLocaleString('en'), isThreaded ? 'a thread' : 'the main thread', ...figures].join(' | ')} |`,
      )
      console.log(rows.at(-1))
    }
  }
  return rows
}

function page(losses: readonly string[], costs: readonly string[]): string {
  const [cpu] = cpus()
  const machine = `Node ${process.version}, ${process.platform} ${release()}, ${cpus().length} × ${cpu?.model.trim()}`
  return [
    '# Benchmark of the heartbeat thread',
    '',
    'Measured by `npm run bench:heartbeat-thread -- --write`.',
    '',
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}. The load of the machine was ${loadavg()[1]?.toFixed(0)}.`,
    '',
    '## Leases lost by a blocked process',
    '',
    `A process holds ${LEASES} leases of \`@leasehold/local\` with a ttl of ${TTL} ms. Then its event loop is blocked. The table has`,
    'the leases whose `checkLease()` is `false` in the first instruction after the block.',
    '',
    '| blocked by | for ttls | heartbeats from the main thread: lost | from a thread: lost |',
    '|---|---|---|---|',
    ...losses,
    '',
    '## Cost',
    '',
    'Leases over a store in memory, with a ttl of 60 s and a heartbeat every 10 s. The start is the time to make all lease objects',
    'and to get the first grant, which includes the start of the thread. A figure of memory below 5 MB is within the noise. The',
    'memory is the resident memory that was added, and the CPU time is that of the whole process, of one core.',
    '',
    '| leases | heartbeats from | start, ms | memory, MB | CPU, % | `checkLease`, ns |',
    '|---|---|---|---|---|---|',
    ...costs,
    '',
  ].join('\n')
}

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } })
const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
const program = await buildProgram(new URL('worker.ts', import.meta.url))
const costs = await costRows(program)
const losses = await lossRows(program, folder)
rmSync(folder, { recursive: true })
if (values.write)
  writeFileSync(new URL('../../docs/benchmarks-heartbeat-thread.md', import.meta.url), page(losses, costs))
