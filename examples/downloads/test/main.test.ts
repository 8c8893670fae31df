import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('two instances download eight files, at most three at a time', () => {
  const { status, lines, stderr } = runExample('downloads')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(lines.at(-1)).toBe('8 files, at most 3 at a time')
  expect(lines.slice(0, -1).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((file) => `begin ${file}`))
})
