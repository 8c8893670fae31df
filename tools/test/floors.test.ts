import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { floors, importedRooms, upwardImports } from '../conventions/floors.js'
import { architecturePage, coreFolder, coreSources } from '../docs/architecture.js'

describe('the floors of core', () => {
  const sources = coreSources()

  it('are imported downwards only', () => {
    expect(upwardImports(coreFolder(), sources)).toEqual([])
  })

  it('hold each folder once', () => {
    const rooms = floors.flat().map(({ folder }) => folder)
    const folders = new Set([...importedRooms(coreFolder(), sources)].flatMap(([room, below]) => [room, ...below]))
    expect(rooms.toSorted()).toEqual([...folders].sort())
  })

  it('are those of the page on the architecture: npm run docs:update', () => {
    const { path, text } = architecturePage()
    expect(readFileSync(path, 'utf8')).toBe(text)
  })
})

describe('an import is reported', () => {
  const house = [
    [{ folder: 'upper', content: '' }],
    [
      { folder: 'left', content: '' },
      { folder: 'right', content: '' },
    ],
  ]
  const texts = new Map([
    ['/src/index.ts', "export { a } from './upper/a.js'"],
    ['/src/upper/a.ts', "import type { B } from '../left/b.js'\nimport './c.js'"],
    ['/src/upper/c.ts', ''],
    ['/src/left/b.ts', ''],
    ['/src/right/d.ts', ''],
  ])

  it('not where it leads down, or stays in its folder', () => {
    expect(upwardImports('/src', texts, house)).toEqual([])
  })

  it.each([
    ['up', 'left/b.ts', "import type { C } from '../upper/c.js'", 'upper/c.ts'],
    ['to the same floor', 'left/b.ts', "import '../right/d.js'", 'right/d.ts'],
    ['to an entry', 'right/d.ts', "export type { A } from '../index.js'", 'index.ts'],
    ['from a folder without a floor', 'cellar/e.ts', "import '../right/d.js'", 'right/d.ts'],
  ])('where it leads %s', (_, from, text, to) => {
    const changed = new Map(texts).set(`/src/${from}`, text)
    expect(upwardImports('/src', changed, house)).toEqual([{ from, to }])
  })
})
