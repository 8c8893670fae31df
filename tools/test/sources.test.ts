import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importCycles } from '../conventions/import-cycles.js'
import { sourceFaults } from '../conventions/source-faults.js'
import { filesBelow, root, shown } from '../workspaces.js'

const files = ['packages', 'examples', 'bench', 'tools']
  .flatMap((folder) => filesBelow(join(root, folder), '.ts', '.mts', '.js', '.mjs'))
  .filter((file) => !/[\\/](?:dist|temp|coverage)[\\/]/.test(file))

it('no source file has a fault', () => {
  const faults = files.map((file) => [shown(file), sourceFaults(file, readFileSync(file, 'utf8'))] as const)
  expect(faults.filter(([, found]) => found.length > 0)).toEqual([])
})

it('no source file of a package imports itself through others, types included', () => {
  const sources = files.filter((file) => /[\\/]packages[\\/][^\\/]+[\\/]src[\\/]/.test(file))
  const cycles = importCycles(new Map(sources.map((file) => [file, readFileSync(file, 'utf8')])))
  expect(cycles.map((cycle) => cycle.map(shown))).toEqual([])
})

it('an import cycle is found where all its imports are of types', () => {
  const texts = new Map([
    ['/src/a.ts', "import type { B } from './b.js'"],
    ['/src/b.ts', "export type { C } from './deep/c.js'\nimport { sort } from 'sorting'"],
    ['/src/deep/c.ts', "type A = import('../a.js').A"],
    ['/src/d.ts', "import './a.js'"],
  ])
  expect(importCycles(texts)).toEqual([['/src/a.ts', '/src/b.ts', '/src/deep/c.ts', '/src/a.ts']])
  texts.set('/src/deep/c.ts', '')
  expect(importCycles(texts)).toEqual([])
})

describe('a fault is', () => {
  it.each([
    ['packages/core/src/utils.ts', ''],
    ['packages/core/src/store/types.ts', ''],
    ['packages/core/test/a.test.ts', `// ${'biome'}-ignore lint/style: no`],
    ['packages/core/src/a.ts', `// ${'@ts'}-ignore`],
    ['packages/core/test/a.test.ts', `// ${'@ts'}-expect-error`],
    ['packages/core/src/a.ts', 'let count = 0'],
    ['packages/core/src/a.ts', 'const a = 1\nexport let count = 0'],
    ['packages/core/src/a.ts', 'const pause = 5 * Math.random()'],
    ['packages/core/src/a.ts', 'const read = Date.now'],
  ])('%s with %j', (file, text) => {
    expect(sourceFaults(file, text)).toHaveLength(1)
  })

  it.each([
    ['packages/core/src/lease-record.ts', 'function next() {\n  let count = 0\n}'],
    ['packages/core/test/types.test.ts', `// ${'@ts'}-expect-error`],
    ['packages/core/test/lease.types.test.ts', `// ${'@ts'}-expect-error`],
    ['packages/core/test/a.test.ts', 'let store: LeaseStore'],
    ['packages/core/test/a.test.ts', 'const pause = 5 * Math.random()'],
    ['packages/core/src/a.ts', '/** `Math.random` unless given. */\n// Date.now'],
    ['packages/core/src/time/system-random.ts', 'const systemRandom = () => Math.random()'],
  ])('not %s with %j', (file, text) => {
    expect(sourceFaults(file, text)).toEqual([])
  })
})
