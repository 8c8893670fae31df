import { fork } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildWorker } from './simulation/build-worker.js'
import type { SimulationPart, SimulationSum } from './simulation/worker.js'

/** The number of schedules in one part of the work. */
const PART = 250

const options = {
  /** The number of seeds. */
  schedules: { type: 'string', default: '10000' },
  /** The first seed. */
  from: { type: 'string', default: '1' },
  /** The recipe whose scenario runs, such as `semaphore`; the engine's own workload unless given. */
  recipe: { type: 'string', default: '' },
  /** The scenario of leases under leases that runs instead, such as `broken-families`. */
  families: { type: 'string', default: '' },
  workers: { type: 'string', default: String(availableParallelism()) },
} as const

const { values } = parseArgs({ options })
const schedules = wholeNumber('schedules')
const first = wholeNumber('from')
const workers = wholeNumber('workers')

const parts: SimulationPart[] = []
for (let from = first; from < first + schedules; from += PART) {
  const { recipe, families } = values
  parts.push({ from, count: Math.min(PART, first + schedules - from), recipe, families })
}

const total: SimulationSum = { schedules: 0, steps: 0, grants: 0, losses: 0, writes: 0, failures: [] }
const begun = Date.now()
const program = await buildWorker()
try {
  await Promise.all(Array.from({ length: Math.min(workers, parts.length) }, work))
} finally {
  rmSync(program, { force: true })
}

const { steps, grants, losses, writes, failures } = total
console.log(
  `seeds ${first} to ${first + schedules - 1}: ${total.schedules} schedules, ${steps} steps, ${grants} grants, ` +
    `${losses} losses, ${writes} writes, ${failures.length} violations, ${Math.round((Date.now() - begun) / 1000)} s`,
)
for (const { seed, check } of failures) console.log(`seed ${seed}: ${check}`)
process.exitCode = failures.length === 0 ? 0 : 1

/** Runs one worker process until no parts are left. */
function work(): Promise<void> {
  const worker = fork(program, { execArgv: [] })
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const part = parts.shift()
      if (part === undefined) worker.disconnect()
      else worker.send(part)
    }
    worker.on('message', (sum: SimulationSum) => {
      add(sum)
      next()
    })
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker exited with code ${code}`))))
    next()
  })
}

function add(sum: SimulationSum): void {
  total.schedules += sum.schedules
  total.steps += sum.steps
  total.grants += sum.grants
  total.losses += sum.losses
  total.writes += sum.writes
  total.failures.push(...sum.failures)
  for (const { seed, message, svg } of sum.failures) {
    const drawing = join(tmpdir(), `simulation-${seed}.svg`)
    writeFileSync(drawing, svg)
    console.log(`${message}\n\ndrawing: ${drawing}\n`)
  }
  if (total.schedules % (PART * 40) === 0) console.log(`${total.schedules} schedules`)
}

function wholeNumber(name: Exclude<keyof typeof options, 'recipe' | 'families'>): number {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new TypeError(`--${name} must be a positive whole number, not '${values[name]}'`)
}
