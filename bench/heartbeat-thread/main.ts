/**
 * Processes that are blocked, or work past their locks: locks lost with and without a heartbeat thread, overlaps of work with
 * and without a self-fence, beside other libraries; and the cost of the thread. Prints the tables, and fails where a bound of
 * ours is not kept. `--only blocked,fenced,cost` measures some of it, `--write` writes the pages and charts into `docs`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { RedisServer } from '@leasehold/testing/redis-server'
import { toSvg } from '../redis/report/chart.js'
import type { Chart } from '../redis/report/number-report.js'
import { installRivals } from '../redis/rivals.js'
import { reportBlocked } from './blocked/report-blocked.js'
import { ChildProgram } from './child-program.js'
import type { Place } from './contenders/contender.js'
import { reportCost } from './cost/report-cost.js'
import { reportFenced } from './fenced/report-fenced.js'

const docs = new URL('../../docs/', import.meta.url)

function head(title: string): readonly string[] {
  const [cpu] = cpus()
  const machine = `Node ${process.version}, ${process.platform} ${release()}, ${cpus().length} × ${cpu?.model.trim()}`
  return [
    `# ${title}`,
    '',
    'Measured by `npm run bench -- heartbeat-thread --write`, with a `redis-server` of its own without files.',
    '',
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}. The load of the machine was ${loadavg()[1]?.toFixed(0)}.`,
    '',
  ]
}

function publish(name: string, text: readonly string[], chart: Chart): void {
  writeFileSync(new URL(`${name}.md`, docs), text.join('\n'))
  writeFileSync(new URL(`${name}.svg`, docs), toSvg(chart.title, [chart]))
}

async function measure(parts: readonly string[], place: Place, write: boolean): Promise<readonly string[]> {
  const program = await ChildProgram.build()
  const failures: string[] = []
  const costs = parts.includes('cost') ? await reportCost(program) : []
  console.log(costs.join('\n'))
  if (parts.includes('blocked')) {
    const { body, chart, failures: lost } = await reportBlocked(program, place)
    failures.push(...lost)
    console.log(body.join('\n'))
    const picture = ['![Locks lost by a blocked process](benchmarks-heartbeat-thread.svg)', '']
    const text = [...head('Benchmark of the heartbeat thread'), ...picture, ...body, ...costs]
    if (write) publish('benchmarks-heartbeat-thread', text, chart)
  }
  if (parts.includes('fenced')) {
    const { body, chart, failures: overlapping } = await reportFenced(program, place)
    failures.push(...overlapping)
    console.log(body.join('\n'))
    const intro = [
      'Two processes that ignore every signal: for how long the first one works after the second one began to work.',
      '',
      '![The longest overlap of work](benchmarks-self-fence.svg)',
      '',
    ]
    if (write) publish('benchmarks-self-fence', [...head('Benchmark of the self-fence'), ...intro, ...body], chart)
  }
  return failures
}

async function main(parts: readonly string[], write: boolean): Promise<void> {
  installRivals()
  const server = await RedisServer.start()
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  try {
    const failures = await measure(parts, { folder, port: server.port }, write)
    for (const failure of failures) console.error(`Bound not kept: ${failure}`)
    process.exitCode = failures.length === 0 ? 0 : 1
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

const all = ['cost', 'blocked', 'fenced']
const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
const parts = values.only?.split(',') ?? all
if (values.write && parts.length < all.length) throw new Error('the pages are of one run: --write goes without --only')
await main(parts, values.write)
// Some libraries go on for ever with what is under way.
process.exit()
