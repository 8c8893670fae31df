import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simulate } from '@leasehold/simulator'
import { afterAll, describe, expect, it } from 'vitest'
import { buildMutant, hunt } from './mutants/build-mutant.js'
import { regressions } from './regressions.js'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-regressions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('schedules that found a bug', () => {
  for (const [place, { name, bug, check, plan }] of regressions.entries()) {
    it(name, async () => {
      await simulate({ seed: plan.seed, plan })
      const bundle = join(folder, `${place}.mjs`)
      await buildMutant({ edits: bug }, bundle)
      expect(await hunt(bundle, JSON.stringify(plan))).toEqual({ caughtBy: [check], schedules: 1 })
    })
  }
})
