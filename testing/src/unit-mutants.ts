import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Edit } from './bundle-with-edits.js'
import { temporaryFolder } from './temporary-folder.js'

/** A small change that breaks a rule, and the test that notices it. Paths are below the folder of the package. */
export interface UnitMutant extends Edit {
  /** The fault, in words. */
  readonly title: string
  /** The file of the test. */
  readonly test: string
  /** A part of the full title of the test. */
  readonly name: string
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const config = fileURLToPath(new URL('../../vitest.unit-mutant.config.ts', import.meta.url))

/**
 * A test for each change: with it, the named test is red. Skipped where the named test is skipped, because it needs a server
 * that is not here. `folder`: of the package.
 */
export function describeUnitMutants(folder: URL, mutants: readonly UnitMutant[]): void {
  describe('one-line changes are noticed', () => {
    it('each is another one', () => {
      expect(new Set(mutants.map(({ title }) => title)).size).toBe(mutants.length)
    })

    for (const mutant of mutants) {
      it(mutant.title, { timeout: 300_000 }, async (context) => {
        const results = await resultsOf(mutant, fileURLToPath(folder), temporaryFolder(context))
        expect(results, `tests of ${mutant.test} whose title contains '${mutant.name}'`).not.toEqual([])
        context.skip(
          results.every((status) => status === 'skipped'),
          `${mutant.test} is skipped here`,
        )
        expect(results).toContain('failed')
      })
    }
  })
}

/** How the tests that a mutant names end with it. */
async function resultsOf({ test, name, ...edit }: UnitMutant, folder: string, temporary: string): Promise<string[]> {
  const report = join(temporary, 'report.json')
  const pattern = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const argv = [vitest, 'run', '--config', config, join(folder, test), '-t', pattern]
  argv.push('--reporter=json', `--outputFile=${report}`)
  const { file, find, replace } = edit
  const env = { ...process.env, LEASEHOLD_EDIT: JSON.stringify({ file: join(folder, file), find, replace }) }
  const output = await new Promise<string>((resolve) => {
    // It ends with 1 where a test is red; the report tells.
    execFile(process.execPath, argv, { env, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
  const { testResults } = read(report, output)
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ fullName }) => fullName.includes(name))
    .map(({ status }) => status)
}

function read(report: string, output: string): Report {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch (cause) {
    throw new Error(`vitest wrote no report: ${output}`, { cause })
  }
}
