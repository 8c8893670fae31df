import { relative } from 'node:path'
import { globSync } from 'tinyglobby'
import { expect, it } from 'vitest'
import { longest } from '../longest-first.js'
import { root } from '../workspaces.js'

const files = globSync(['{packages,examples,tools,docs,testing}/**/*.test.ts', '!**/node_modules'], { cwd: root })

it.each(longest.map((pattern) => [String(pattern), pattern] as const))('there are test files for %s', (_, pattern) => {
  expect(files.filter((file) => pattern.test(file))).not.toEqual([])
})

it('the files are named from the root', () => {
  expect(files).toContain(relative(root, import.meta.filename))
})
