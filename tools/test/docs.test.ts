import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { brokenLinks } from '../docs/links.js'
import { markdownFiles } from '../docs/markdown-files.js'
import { snippetFaults } from '../docs/snippets.js'
import { shown } from '../workspaces.js'

const pages = markdownFiles().map((file) => ({ file, name: shown(file), text: readFileSync(file, 'utf8') }))

describe.each(pages)('$name', ({ file, text }) => {
  it('has no broken links', () => {
    expect(brokenLinks(file, text)).toEqual([])
  })

  it('shows code from files that run, without differences', () => {
    expect(snippetFaults(text)).toEqual([])
  })
})

it('finds the pages', () => {
  expect(pages.length).toBeGreaterThan(0)
})
