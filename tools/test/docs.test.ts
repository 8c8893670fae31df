import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { brokenLinks } from '../docs/links.js'
import { markdownFiles } from '../docs/markdown-files.js'
import { snippetFaults } from '../docs/snippets.js'
import { shown } from '../workspaces.js'

const pages = markdownFiles().map((file) => ({ file, name: shown(file), text: readFileSync(file, 'utf8') }))

describe.each(pages)('$name', ({ file, text }) => {
  it('has no link that leads nowhere', () => {
    expect(brokenLinks(file, text)).toEqual([])
  })

  it('shows code only from files that run, and as they are', () => {
    expect(snippetFaults(text)).toEqual([])
  })
})

it('there are pages', () => {
  expect(pages.length).toBeGreaterThan(0)
})
