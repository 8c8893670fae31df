import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildMutant, hunt } from '../testing/simulator/test/mutants/build-mutant.js'
import type { Mutant } from '../testing/simulator/test/mutants/mutant.js'
import { mutants } from '../testing/simulator/test/mutants/mutants.js'

/** How many schedules the simulator takes to find each deliberate bug, with and without guidance, as a table. */

const { values } = parseArgs({
  options: {
    /** The first seeds of the hunts for one bug. */
    starts: { type: 'string', default: '1,100001,200001' },
    /** How many bugs are hunted at once. */
    workers: { type: 'string', default: '1' },
    /** A part of the name of each bug. */
    name: { type: 'string', default: '' },
  },
})
const starts = values.starts.split(',').map(Number)
const folder = mkdtempSync(join(tmpdir(), 'leasehold-time-to-find-'))
const left = mutants.filter(({ name, caughtBy }) => 'check' in caughtBy && name.includes(values.name)).entries()

console.log('| bug | hunted | without guidance | with guidance |\n|---|---|---|---|')
try {
  await Promise.all(Array.from({ length: Number(values.workers) }, work))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function work(): Promise<void> {
  for (const [place, mutant] of left) {
    const bundle = join(folder, `${place}.mjs`)
    await buildMutant(mutant, bundle)
    const how = hunted(mutant)
    const plain = await median(bundle, how, 'plain')
    console.log(`| ${mutant.name} | ${how} | ${plain} | ${await median(bundle, how, 'guided')} |`)
  }
}

function hunted({ caughtBy }: Mutant): string {
  return ('check' in caughtBy && caughtBy.under) || 'simulator'
}

/** The median number of schedules; with a `>` where most hunts ended without a find. */
async function median(bundle: string, how: string, way: 'plain' | 'guided'): Promise<string> {
  const counts: number[] = []
  for (const start of starts) {
    const { caughtBy, schedules } = await hunt(bundle, how, `${way}:${start}`)
    counts.push(caughtBy.length > 0 ? schedules : Number.POSITIVE_INFINITY)
  }
  const middle = counts.sort((one, other) => one - other)[Math.floor(counts.length / 2)] ?? Number.NaN
  return Number.isFinite(middle) ? String(middle) : '> 2000'
}
