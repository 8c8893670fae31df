import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type ChaosOptions,
  checkRun,
  type FailedRun,
  keepFailedRun,
  type PlannedFault,
  reportOf,
  rivals,
  runChaos,
  type System,
  smallestRun,
  systems,
  useScratchFolder,
} from '@leasehold/chaos'
import { inTurn } from '@leasehold/testing'

/** `slow`: the machine may have been too busy; the run is repeated. */
type Outcome = 'passed' | 'failed' | 'skipped' | 'slow'

const options = {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: '1' },
  clients: { type: 'string', default: '5' },
  /** About how many operations are recorded in a second. */
  rate: { type: 'string', default: '45' },
  /** Kinds of faults that are not drawn otherwise, because they break what the store assumes. */
  with: { type: 'string', multiple: true },
  /** How many stores run at a time. */
  'at-once': { type: 'string', default: '100' },
  /** A run that failed only because it took too long runs once more, after all others, by itself. The second outcome counts. */
  again: { type: 'boolean', default: false },
  /** A file with a schedule of faults, carried out instead of a drawn one. */
  faults: { type: 'string' },
  /** Whether the schedule of a failed run is made smaller, which takes up to `--shrink-minutes`. */
  shrink: { type: 'boolean', default: true },
  'shrink-minutes': { type: 'string', default: '15' },
} as const

/** How often a smaller schedule is tried: real runs differ. */
const TRIES = 2

const { values, positionals } = parsed()
const chaos: ChaosOptions = {
  seed: positive('seed'),
  duration: positive('minutes') * 60_000,
  clients: positive('clients'),
  rate: positive('rate'),
  with: values.with ?? [],
  schedule: values.faults === undefined ? undefined : scheduleIn(values.faults),
}
/** `all`: the stores whose turn it is; CI runs some of them for each commit. */
const chosen = positionals.flatMap((name) => (name === 'all' ? inTurn(systems, 'CHAOS_TURN') : [systemOf(name)]))
if (chosen.length === 0) misused(`name at least one store, or all: ${names()}`)

/** Where failed runs are kept. */
const temporary = tmpdir()
useScratchFolder()
// Each server, disk and clock removes what it has made when this process ends.
process.setMaxListeners(0)
// The client processes end with this one.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))
const outcomes: Outcome[] = []
const waiting = [...chosen]
const slow: System[] = []
await Promise.all(Array.from({ length: Math.min(positive('at-once'), chosen.length) }, runWaiting))
for (const system of slow) {
  console.log(`${system.name}: once more, by itself\n`)
  outcomes.push(await outcomeOf(system, { isLast: true }))
}
const count = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
// All has ended. A connection or a process that was left must not keep this one.
process.exit(count('failed') === 0 ? 0 : 1)

async function runWaiting(): Promise<void> {
  for (let system = waiting.shift(); system !== undefined; system = waiting.shift()) {
    const outcome = await outcomeOf(system, { isLast: !values.again })
    if (outcome === 'slow') slow.push(system)
    else outcomes.push(outcome)
  }
}

async function outcomeOf(system: System, { isLast }: { readonly isLast: boolean }): Promise<Outcome> {
  if (system.whyNot !== undefined) {
    console.log(`${system.name}: skipped, ${system.whyNot}\n`)
    return 'skipped'
  }
  // Servers that do not start in time, too.
  let mayBeSlowness = true
  try {
    const run = await runChaos(system, chaos)
    const verdict = checkRun(system, run)
    const report = reportOf(run, verdict)
    console.log(`${report}\n`)
    if (verdict.faults.length === 0) return 'passed'
    mayBeSlowness = verdict.mayBeSlowness
    const folder = join(temporary, `chaos-${system.name}-${chaos.seed}`)
    keepFailedRun(folder, run, verdict, report)
    console.log(`history, drawing and faults: ${folder}\n`)
    if (values.shrink && (isLast || !mayBeSlowness)) await printSmallest(system, { run, verdict }, folder)
  } catch (error) {
    console.log(`${system.name}: the run did not work`)
    console.log(error)
  }
  if (mayBeSlowness && !isLast) return 'slow'
  console.log(` FAIL  chaos ${system.name} seed ${chaos.seed}\n`)
  return 'failed'
}

async function printSmallest(system: System, failed: FailedRun, folder: string): Promise<void> {
  const begun = Date.now()
  const minutes = (): string => ((Date.now() - begun) / 60_000).toFixed(1)
  let runs = 0
  const { run, verdict } = await smallestRun(system, chaos, failed, {
    tries: TRIES,
    limit: positive('shrink-minutes') * 60_000,
    onRun: ({ faults, isFailed }) => {
      runs += 1
      console.log(`  ${minutes()} minutes: a run with ${faults} faults ${isFailed ? 'failed, too' : 'was good'}`)
    },
  })
  const { schedule } = run
  const total = failed.run.schedule.length
  console.log(
    `${system.name}: ${schedule.length} of ${total} faults are enough, after ${runs} runs in ${minutes()} minutes`,
  )
  for (const { kind, target, at, lasts, amount } of schedule) {
    const size = amount === undefined ? '' : `, by ${amount}`
    console.log(`  at ${at} ms: ${kind} of ${target} for ${lasts} ms${size}`)
  }
  const report = reportOf(run, verdict)
  console.log(report)
  const smallest = join(folder, 'smallest')
  keepFailedRun(smallest, run, verdict, report)
  const faults = join(smallest, 'faults.json')
  console.log(`npm run chaos -- ${system.name} --seed ${chaos.seed} --minutes ${values.minutes} --faults ${faults}\n`)
}

function systemOf(name: string): System {
  const system = [...systems, ...rivals].find((one) => one.name === name)
  if (system !== undefined) return system
  return misused(`there is no store '${name}' for chaos: choose from ${names()}`)
}

function parsed() {
  try {
    return parseArgs({ options, allowPositionals: true, allowNegative: true })
  } catch (error) {
    return misused((error as Error).message)
  }
}

/** Ends the command: it was given something that it cannot use. */
function misused(message: string): never {
  console.error(`chaos: ${message}`)
  process.exit(2)
}

function names(): string {
  return [...systems, ...rivals].map(({ name }) => name).join(', ')
}

function scheduleIn(file: string): PlannedFault[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PlannedFault[]
  } catch (error) {
    return misused(`--faults ${file} cannot be read: ${(error as Error).message}`)
  }
}

function positive(name: 'minutes' | 'seed' | 'clients' | 'rate' | 'at-once' | 'shrink-minutes'): number {
  const value = Number(values[name])
  if (value > 0 && (name === 'minutes' || name === 'shrink-minutes' || Number.isSafeInteger(value))) return value
  return misused(`--${name} must be a positive number, not '${values[name]}'`)
}
