import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { CheckName } from '@leasehold/simulator'
import { inTurn } from '@leasehold/testing'
import { bundleWithEdits, type Edit } from '@leasehold/testing/bundle-with-edits'
import { afterAll, describe, expect, it } from 'vitest'

/** A deliberate bug, and the law or the checks of the simulator that catch it: one of them is enough. */
export interface RecipeMutant {
  readonly name: string
  readonly edits: readonly Edit[]
  readonly caughtBy: { readonly law: string } | { readonly check: readonly CheckName[] }
}

const sources = fileURLToPath(new URL('../../src/', import.meta.url))

/** A test for each deliberate bug. `hunter`: the program that calls `hunt` for the recipe. */
export function describeMutants(hunter: URL, mutants: readonly RecipeMutant[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-recipe-mutants-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  describe('deliberate bugs are caught', () => {
    it('there are at least four, each another one, and one that the simulator catches', () => {
      expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
      expect(mutants.length).toBeGreaterThanOrEqual(4)
      expect(mutants.some((mutant) => 'check' in mutant.caughtBy)).toBe(true)
    })

    it('without a bug the laws catch nothing', async () => {
      expect(await caughtBy(hunter, [], join(folder, 'none.mjs'), 'laws')).toEqual([])
    })

    for (const [place, { name, edits, caughtBy: by }] of inTurn([...mutants.entries()], 'MUTANTS_TURN')) {
      const expected: readonly string[] = 'law' in by ? [by.law] : by.check
      it(`${name}: ${expected.join(' or ')}`, { timeout: 900_000 }, async () => {
        const how = 'law' in by ? ['laws', by.law] : ['simulator']
        const caught = await caughtBy(hunter, edits, join(folder, `${place}.mjs`), ...how)
        expect(
          caught.some((one) => expected.includes(one)),
          `caught by: ${caught.join(', ')}`,
        ).toBe(true)
      })
    }
  })
}

async function caughtBy(hunter: URL, edits: readonly Edit[], bundle: string, ...how: string[]): Promise<string[]> {
  await bundleWithEdits({ entry: fileURLToPath(hunter), sources, edits }, bundle)
  const { stdout } = await promisify(execFile)(process.execPath, [bundle, ...how])
  return JSON.parse(stdout)
}
