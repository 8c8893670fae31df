import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inTurn } from '@leasehold/testing'
import { bundleWithEdits, type Edit } from '@leasehold/testing/bundle-with-edits'
import { afterAll, describe, expect, it } from 'vitest'
import { mutants as engineMutants } from '../mutants/mutants.js'
import { objectiveMutants } from '../mutants/objective-mutants.js'
import { parentMutants } from '../mutants/parent-mutants.js'
import { timeMutants } from '../mutants/time-mutants.js'
import type { Hunted } from './exploration-mutant.js'
import { explored, found, further, type Hunt, outOfReach } from './exploration-mutants.js'

const coreSources = fileURLToPath(new URL('../../../../packages/core/src/', import.meta.url))
const hunter = fileURLToPath(new URL('hunt.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'leasehold-exploration-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const simulated = [...engineMutants, ...parentMutants, ...objectiveMutants, ...timeMutants]
const hunts: readonly { readonly name: string; readonly edits: readonly Edit[]; readonly hunt: Hunt }[] = [
  ...simulated.flatMap(({ name, edits }) => {
    const hunt = found[name]
    return hunt === undefined ? [] : [{ name, edits, hunt }]
  }),
  ...further,
]

async function huntFor(place: number, edits: readonly Edit[], { bounds }: Hunt): Promise<Hunted> {
  const bundle = join(folder, `${place}.mjs`)
  await bundleWithEdits({ entry: hunter, sources: coreSources, edits }, bundle)
  const { stdout } = await promisify(execFile)(process.execPath, [bundle, JSON.stringify(bounds)], { timeout: 600_000 })
  return JSON.parse(stdout)
}

describe('deliberate bugs are found by exploration', () => {
  it('each bug of the simulator in an explored source is found, or there is a reason why not', () => {
    const isExplored = ({ file }: Edit): boolean => explored.some((source) => source.test(file))
    const within = simulated.filter(({ edits }) => edits.every(isExplored)).map(({ name }) => name)
    expect(within.filter((name) => !(name in found) && !(name in outOfReach))).toEqual([])
    expect([...Object.keys(found), ...Object.keys(outOfReach)].filter((name) => !within.includes(name))).toEqual([])
  })

  it('by schedules that are shorter than those of the simulator', () => {
    for (const { steps, simulated } of Object.values(found)) {
      if (simulated !== undefined) expect(steps).toBeLessThan(simulated)
    }
  })

  for (const [place, { name, edits, hunt }] of inTurn([...hunts.entries()], 'MUTANTS_TURN')) {
    it(`${name}: ${hunt.rule.join(' or ')} in ${hunt.steps} steps`, { timeout: 900_000 }, async () => {
      const { rule, steps } = await huntFor(place, edits, hunt)
      expect(hunt.rule).toContain(rule)
      expect(steps).toBe(hunt.steps)
    })
  }
})
