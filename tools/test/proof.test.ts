import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesBelow, root } from '../workspaces.js'

/** The rows of the tables of the promises: what shows a promise, and the rest of the row. */
const rows = read('docs/internals/proof.md')
  .split('\n')
  .map(
    (line) => /^\| (exploration|simulation|chaos|broken on purpose|not shown) \| (.*) \|$/.exec(line)?.slice(1) ?? [],
  )
  .filter(([kind]) => kind !== undefined)

/** Where the checks of each kind of evidence are defined. */
const definitions = {
  exploration: read('testing/simulator/src/explore/broken-rule.ts'),
  simulation: read('testing/simulator/src/checks.ts'),
  chaos: sourcesBelow('testing/chaos/src/checks'),
}

const bugs = [
  sourcesBelow('testing/simulator/test/mutants'),
  read('testing/simulator/test/explore/exploration-mutants.ts'),
  read('packages/testkit/test/laws/guards.test.ts'),
].join('\n')

describe('the page of what is shown', () => {
  it.each(Object.entries(definitions))('names checks that the %s has', (kind, source) => {
    const named = rowsOf(kind).flatMap((row) => [...row.matchAll(/`([a-z]+(?:-[a-z]+)*)`/g)].map(([, name]) => name))
    expect(named.length).toBeGreaterThan(5)
    for (const name of named) {
      // A key needs no quotation marks where the name is one word.
      expect(source, name).toMatch(new RegExp(`'${name}'|^\\s*${name}:`, 'm'))
    }
  })

  it('names deliberate bugs that are tried', () => {
    const named = rowsOf('broken on purpose').flatMap((row) =>
      [...row.matchAll(/\*([^*]+)\*/g)].map(([, name]) => name),
    )
    expect(named.length).toBeGreaterThan(20)
    for (const name of named)
      expect(
        [`'${name}'`, `"${name}"`].some((text) => bugs.includes(text)),
        name,
      ).toBe(true)
  })

  it('says of each promise what is not shown', () => {
    const promises = read('docs/internals/proof.md').split('## The safety rules')[1]?.split('\n### ').length ?? 0
    expect(rowsOf('not shown')).toHaveLength(promises - 1)
  })
})

function rowsOf(kind: string): string[] {
  return rows.filter(([of]) => of === kind).map(([, text = '']) => text)
}

function sourcesBelow(folder: string): string {
  return filesBelow(join(root, folder), '.ts')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
