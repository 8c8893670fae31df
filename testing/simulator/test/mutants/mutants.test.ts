import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inTurn } from '@leasehold/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { buildMutant, hunt } from './build-mutant.js'
import { mutants } from './mutants.js'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-mutants-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('deliberate bugs are caught', () => {
  it('there are at least twenty, each another one', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
    expect(mutants.length).toBeGreaterThanOrEqual(20)
  })

  it('without a bug the laws catch nothing', async () => {
    const bundle = join(folder, 'none.mjs')
    await buildMutant({ edits: [] }, bundle)
    expect(await hunt(bundle, 'laws')).toEqual({ caughtBy: [], schedules: 0 })
  })

  for (const [place, { name, edits, caughtBy }] of inTurn([...mutants.entries()], 'MUTANTS_TURN')) {
    const by = 'law' in caughtBy ? [caughtBy.law] : caughtBy.check
    it(`${name}: ${by.join(' or ')}`, { timeout: 900_000 }, async () => {
      const bundle = join(folder, `${place}.mjs`)
      await buildMutant({ edits }, bundle)
      const caught =
        'law' in caughtBy ? await hunt(bundle, 'laws', caughtBy.law) : await hunt(bundle, caughtBy.under ?? 'simulator')
      expect(
        caught.caughtBy.some((one) => (by as readonly string[]).includes(one)),
        caught.caughtBy.join(),
      ).toBe(true)
    })
  }
})
