import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { scenes } from '../scenes/scenes.js'

const page = readFileSync(new URL('../../start/playground.md', import.meta.url), 'utf8')

it('the page around the playground lists every scene with its sentence, in order', () => {
  const listed = [...page.matchAll(/^\d+\. \*\*(.+)\*\*: (.+)$/gm)].map(([, title, sentence]) => [title, sentence])
  expect(listed).toEqual(scenes.map(({ title, sentence }) => [title, sentence]))
})
