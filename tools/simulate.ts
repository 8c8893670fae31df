import { fork } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildProgram } from '@leasehold/testing/build-program'
import type { SimulationPart, SimulationSum } from './simulation/worker.js'

/** The number of schedules in one part of the work, and in one guided search. */
const PART = 250
const SEARCH = 2_000

const options = {
  /** The number of seeds of a scenario for which none are given. */
  schedules: { type: 'string', default: '10000' },
  /** The first seed of a scenario for which none are given. */
  from: { type: 'string', default: '1' },
  workers: { type: 'string', default: String(availableParallelism()) },
  /** Plans are changes of those whose runs reached new states, in one search for each part of the work. */
  guided: { type: 'boolean', default: false },
} as const

/** Scenarios, each with its seeds, such as `semaphore:251-5000`; the engine's own workload unless given. */
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const schedules = wholeNumber('schedules')
const first = wholeNumber('from')
const workers = wholeNumber('workers')

interface Range {
  readonly scenario: string
  readonly from: number
  readonly to: number
  readonly total: SimulationSum
}

/** All in the same workers: to compile the engine takes a worker as long as a hundred schedules. */
const ranges = (positionals.length === 0 ? ['engine'] : positionals).map(rangeOf)
const size = values.guided ? SEARCH : PART
const parts: (SimulationPart & { readonly range: Range })[] = []
for (const range of ranges) {
  const { scenario, to } = range
  for (let from = range.from; from <= to; from += size) {
    parts.push({ scenario, from, count: Math.min(size, to + 1 - from), guided: values.guided, range })
  }
}

const program = await buildProgram('tools/simulation/worker.ts')
try {
  await Promise.all(Array.from({ length: Math.min(workers, parts.length) }, work))
} finally {
  rmSync(program, { force: true })
}
process.exitCode = ranges.every(({ total }) => total.failures.length === 0) ? 0 : 1

/** Runs one worker process until no parts are left. */
function work(): Promise<void> {
  const worker = fork(program, { execArgv: [] })
  return new Promise((resolve, reject) => {
    let range: Range | undefined
    const next = (): void => {
      const part = parts.shift()
      if (part === undefined) {
        worker.disconnect()
        return
      }
      const { range: of, ...asked } = part
      range = of
      worker.send(asked satisfies SimulationPart)
    }
    worker.on('message', (sum: SimulationSum) => {
      if (range !== undefined) add(range, sum)
      next()
    })
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker exited with code ${code}`))))
    next()
  })
}

function add(range: Range, sum: SimulationSum): void {
  const { total, scenario, from, to } = range
  total.schedules += sum.schedules
  total.steps += sum.steps
  total.grants += sum.grants
  total.losses += sum.losses
  total.writes += sum.writes
  total.cpu += sum.cpu
  total.failures.push(...sum.failures)
  for (const { seed, message, svg } of sum.failures) {
    const drawing = join(tmpdir(), `simulation-${scenario}-${seed}.svg`)
    writeFileSync(drawing, svg)
    console.log(`${message}\n\ndrawing: ${drawing}\n`)
  }
  if (total.schedules === to + 1 - from) summarise(range)
  else if (total.schedules % (PART * 40) === 0) console.log(`${scenario}: ${total.schedules} schedules`)
}

function summarise({ scenario, from, to, total }: Range): void {
  const { steps, grants, losses, writes, failures, cpu } = total
  console.log(
    `${scenario}, seeds ${from} to ${to}: ${total.schedules} schedules, ${steps} steps, ${grants} grants, ` +
      `${losses} losses, ${writes} writes, ${failures.length} violations, ${Math.round(cpu)} s of processor time`,
  )
  for (const { seed, check } of failures) console.log(`seed ${seed}: ${check}`)
}

/** Of a text such as `semaphore:251-5000` or `semaphore`. */
function rangeOf(text: string): Range {
  const [scenario = '', seeds = `${first}-${first + schedules - 1}`] = text.split(':')
  const [from = 0, to = 0] = seeds.split('-').map(Number)
  if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 1 || to < from) {
    throw new TypeError(`the seeds must be two whole numbers, such as engine:1-1000, not '${text}'`)
  }
  const total = { schedules: 0, steps: 0, grants: 0, losses: 0, writes: 0, cpu: 0, failures: [] }
  return { scenario, from, to, total }
}

function wholeNumber(name: keyof typeof options): number {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new TypeError(`--${name} must be a positive whole number, not '${values[name]}'`)
}
