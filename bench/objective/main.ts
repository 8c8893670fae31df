import { readFileSync, writeFileSync } from 'node:fs'
import { runTrial, type TrialResult } from '../../packages/core/test/objective/trial.js'
import type { World } from '../../packages/core/test/objective/world.js'
import { recordedRedis, worlds } from '../../packages/core/test/objective/worlds.js'

const PAGE = new URL('../../docs/guide/objective.md', import.meta.url)

const PROCESSES = 10
const LEARNED_DAYS = 180
const SHORT_LEARNED_DAYS = 10

/** How many lease-days the worlds get: fewer where most heartbeats are slow, because each of those is simulated. */
const days: Readonly<Record<string, number>> = {
  recorded: 500,
  heavy: 1_500,
  errors: 3_000,
  two: 5_000,
  'brown-outs': 10_000,
}
const USUAL_DAYS = 125_000

interface Row {
  readonly world: World
  readonly failover: number
  readonly result: TrialResult
}

function rowOf(world: World, failover: number): Row {
  const kind = /^[\w-]+/.exec(world.name)?.[0] ?? ''
  const total = days[kind] ?? USUAL_DAYS
  // It takes as long to learn as to hold leases afterwards.
  const learned = kind === 'brown-outs' || total === USUAL_DAYS ? LEARNED_DAYS : SHORT_LEARNED_DAYS
  const objective = { failover, falseLossesPerYear: 1 }
  const trial = { world, objective, processes: PROCESSES, learned, days: total / PROCESSES }
  const result = runTrial(trial, 1)
  process.stdout.write(`${line({ world, failover, result })}\n`)
  return { world, failover, result }
}

function line({ world, failover, result }: Row): string {
  const { forecast, real, warned, days } = result
  const cells = [
    world.name,
    `${failover / 1_000} s`,
    figure(forecast),
    figure(real),
    `${warned} of ${PROCESSES}`,
    Math.round(days),
  ]
  return `| ${cells.join(' | ')} |`
}

function figure(rate: number): string {
  return rate < 0.01 ? 'below 0.01' : String(Number(rate.toPrecision(2)))
}

const rows = [
  rowOf(recordedRedis(), 200),
  ...[2_000, 5_000].flatMap((failover) => worlds.map((world) => rowOf(world, failover))),
]
const total = Math.round(rows.reduce((sum, { result }) => sum + result.days, 0))
const table = [
  `${total.toLocaleString('en')} lease-days:`,
  '',
  '| store and process | failover | forecast | real | said that it is not kept | lease-days |',
  '|---|---|---|---|---|---|',
  ...rows.map(line),
].join('\n')
const [before, , after] = readFileSync(PAGE, 'utf8').split(/<!-- (?:figures|end of figures) -->/)
writeFileSync(PAGE, `${before}<!-- figures -->\n${table}\n<!-- end of figures -->${after}`)
