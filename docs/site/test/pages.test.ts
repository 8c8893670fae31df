import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../../../tools/workspaces.js'
import { siteAddress } from '../address.js'
import { headingAnchor } from '../heading-anchor.js'
import { sidebar } from '../menus.js'
import { addressOf, sections } from '../navigation.js'
import { firstSentence, pageDescription, plainPage } from '../page-text.js'
import { publicEntries } from '../public-entries.js'
import { siteTarget } from '../repository-links.js'
import { searchedPart } from '../search.js'

describe('the navigation', () => {
  it('is the list of docs/README.md, section by section, in plain text', () => {
    const list =
      '# Docs\n\n- [Before](x.md)\n\n## Start\n\n- [One `@Cron`](start/one.md)\n- [Two](two.md): and more\n\n## Guides\n'
    expect(sections(list)).toEqual([
      {
        title: 'Start',
        pages: [
          { title: 'One @Cron', file: 'start/one.md' },
          { title: 'Two', file: 'two.md' },
        ],
      },
      { title: 'Guides', pages: [] },
    ])
  })

  it('has pages in each section', () => {
    for (const { title, pages } of sections()) expect(pages.length, title).toBeGreaterThan(0)
  })

  it('has a menu of its own for the reference of the API, with every public entry and no internal one', () => {
    const [menu] = (sidebar([])['/reference/api/'] ?? []) as { items?: { text?: string }[] }[]
    const names = menu?.items?.map(({ text }) => text)
    expect(names).toEqual(publicEntries().map(({ name }) => name))
    expect(names).toEqual(expect.arrayContaining(['@leasehold/core', '@leasehold/core/store-kit', '@leasehold/ui']))
    expect(names?.filter((name) => name?.includes('internal'))).toEqual([])
  })

  it('knows the address of a page', () => {
    expect(['index.md', 'start/index.md', 'start/a.md'].map(addressOf)).toEqual(['/', '/start/', '/start/a'])
  })
})

describe('the text of a page', () => {
  it('gives its first sentence, which describes it', () => {
    const page =
      '---\na: 1\n---\n# Title\n\n<!-- from: a.ts -->\n```ts\ncode.\n```\n\n| a | b |\n\nUse [`a.ts`](b.md), it\nhelps. More.\n'
    expect(firstSentence(page)).toBe('Use a.ts, it helps.')
    expect(firstSentence('# Title\n\nIt does this:\n\n- a\n')).toBe('It does this.')
    expect(firstSentence('# Title\n')).toBe('')
  })

  it('is without front matter and comments for programs', () => {
    expect(plainPage('---\na: 1\n---\n# T\n\n<!-- from: a.ts -->\n```ts\na\n```\n')).toBe('# T\n\n```ts\na\n```')
  })

  it.each(sections().flatMap(({ pages }) => pages))('has a first sentence: $file', ({ file }) => {
    expect(pageDescription(file)).toMatch(/^.{15,300}$/)
  })
})

describe('a link', () => {
  const page = join(root, 'docs', 'start', 'which-store.md')
  const repository = 'https://github.com/leasehold/leasehold'

  it('stays as it is within the pages, and to elsewhere', () => {
    for (const target of ['getting-started.md#install', '#part', 'https://example.org', '/guides/x']) {
      expect(siteTarget(target, page)).toBe(target)
    }
  })

  it('leads to the repository where it leaves the pages', () => {
    expect(siteTarget('../../packages/core/README.md#install', page)).toBe(
      `${repository}/blob/main/packages/core/README.md#install`,
    )
    expect(siteTarget('../../packages/core', page)).toBe(`${repository}/tree/main/packages/core`)
  })

  it('leads to the front page where it leads to the list of pages on GitHub', () => {
    expect(siteTarget('../README.md', page)).toBe('/')
    expect(siteTarget('../README.md#migrating', page)).toBe('/migrating/from-redlock')
  })

  it('must lead to a file', () => {
    expect(() => siteTarget('../../packages/none/README.md', page)).toThrow('leads to no file')
  })
})

it('a heading has the anchor that GitHub gives it', () => {
  const anchors = { 'Which store?': 'which-store', '`a.b()` – and C_d': 'ab--and-c_d', ' Größe 2 ': 'größe-2' }
  for (const [heading, anchor] of Object.entries(anchors)) expect(headingAnchor(heading)).toBe(anchor)
})

it('the search knows the names of a page of the API and its first sentences, and all other pages wholly', () => {
  const page =
    '[API](x) / a\n\n# Class: A\n\nDefined in: x\n\nDoes it.\n\n## Methods\n\n### run()\n\nMuch text.\n\n#### Returns\n'
  expect(searchedPart(page, 'reference/api/core/classes/A.md').split(/\n+/)).toEqual([
    '',
    '# Class: A',
    'Does it.',
    '### run()',
  ])
  expect(searchedPart(page, 'guides/a.md')).toBe(page)
})

it('the address of the site is the root of any host, or that of SITE_URL', () => {
  expect(siteAddress('')).toEqual({ base: '/', url: '/' })
  const published = { base: '/docs/', url: 'https://example.org/docs/' }
  expect(siteAddress('https://example.org/docs')).toEqual(published)
  expect(siteAddress('https://example.org/docs/')).toEqual(published)
  expect(() => siteAddress('docs')).toThrow("SITE_URL is 'docs': it must be an address")
})

it('the front page begins with the sentence of the user', () => {
  expect(readFileSync(join(root, 'docs', 'index.md'), 'utf8')).toMatch(/^# My cron job runs on every instance\n/)
})
