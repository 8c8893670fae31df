import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { proseOf } from '../docs/code-block.js'
import { brokenLinks } from '../docs/links.js'
import { markdownFiles, writtenPages } from '../docs/markdown-files.js'
import { snippetFaults } from '../docs/snippets.js'
import { packages, root, shown } from '../workspaces.js'

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

/** The names that the first group of a pattern finds in a file, each once, sorted. */
function namesIn(file: string, pattern: RegExp): string[] {
  return [...new Set([...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, name = '']) => name))].sort()
}

it('docs/README.md, from which the site takes its navigation, lists every page once', () => {
  const all = writtenPages().map((file) => relative(join(root, 'docs'), file))
  const listed = [...readFileSync(join(root, 'docs/README.md'), 'utf8').matchAll(/^- \[.+\]\((.+\.md)\)/gm)]
  const entrances = ['README.md', 'index.md']
  expect(listed.map(([, target]) => target).sort()).toEqual(all.filter((page) => !entrances.includes(page)).sort())
})

it('the README of the repository lists every package', () => {
  const ids = packages().map(({ id }) => id)
  expect(namesIn('README.md', /^\| \[(?:@leasehold\/|(?=create-leasehold\]))([\w-]+)\]/gm)).toEqual(ids)
})

/** Core and the providers, which have options for their blocks of the configuration; so have the recipes. */
const withStores = packages().filter(({ id, folder }) => id !== 'recipes' && existsSync(join(folder, 'reference.conf')))

it.each(withStores.filter(({ id }) => id !== 'core'))('$id has a guide, which links its README', ({ id }) => {
  expect(namesIn(`docs/stores/${id}.md`, /\.\.\/\.\.\/packages\/([\w-]+)\/README\.md/g)).toContain(id)
})

/** The exports of an entry, such as `@leasehold/core/store`, by its report. */
function exportsOf(entry: string): readonly string[] {
  const report = `packages/core/${entry.replace('@leasehold/', '').replace('/', '-')}.api.md`
  return namesIn(report, /^export (?:abstract class|class|function|interface|type|const) (\w+)/gm)
}

it.each(['writing-a-lease-store', 'writing-a-provider'])('%s says from where each name is imported', (page) => {
  const text = readFileSync(join(root, `docs/stores/${page}.md`), 'utf8')
  const rows = [...text.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| `(@leasehold\/core\/[\w-]+)` \|/gm)]
  expect(rows.length).toBeGreaterThan(5)
  for (const [, names = '', entry = ''] of rows)
    expect(exportsOf(entry)).toEqual(expect.arrayContaining(names.replaceAll('`', '').split(', ')))
})

/** A reader who compares stores finds the answer to a question at the same place of each page. */
const HEADINGS = [
  'When to choose it',
  'Five minutes to a lease',
  'What is kept on the server',
  'What it costs',
  'Clocks',
  'Waiting',
  'Failovers and backups',
  'Permissions',
  'The guard',
  'Together with other programs',
  'When something goes wrong',
]

const stores = ['memory', ...withStores.map(({ id }) => id).filter((id) => id !== 'core')]

it.each(stores)('the page of the store %s has the headings of all stores, in their order', (id) => {
  const parts = proseOf(readFileSync(join(root, `docs/stores/${id}.md`), 'utf8'))
    .split(/^## /m)
    .slice(1)
  expect(parts.map((part) => part.split('\n', 1)[0])).toEqual(HEADINGS)
  const isEmpty = (part: string) => part.trim().split('\n').length < 2
  expect(parts.filter(isEmpty), 'a heading about which a store has nothing to say, says so in a sentence').toEqual([])
})

it('the table of stores in the settings lists core and every provider, and no other package', () => {
  const ids = withStores.map(({ id }) => id)
  expect(namesIn('docs/reference/settings.md', /\| \[[\w-]+\]\(\.\.\/\.\.\/packages\/([\w-]+)\/README/g)).toEqual(ids)
})

it.each(packages())('the README of $id has a table of options', ({ folder }) => {
  expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(/^\| option \|/m)
})
