import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokenLinks } from '../docs/links.js'
import { root } from '../workspaces.js'

const broken = (page: string): string[] => brokenLinks(join(root, 'PAGE.md'), page)

describe('a broken link', () => {
  it('points to a file that does not exist', () => {
    expect(broken('[a](LICENSE), [b](./tools/none.ts) and [c](none.md#part "title")')).toEqual([
      './tools/none.ts',
      'none.md#part',
    ])
  })

  it('is also found in the web address of a file of this repository', () => {
    const page = 'https://github.com/leasehold/leasehold/blob/main'
    expect(broken(`[a](${page}/LICENSE) [b](${page}/docs/none.md#part)`)).toEqual([`${page}/docs/none.md#part`])
  })

  it('is also found in a reference', () => {
    expect(broken('See [a].\n\n[a]: ./none.md\n')).toEqual(['./none.md'])
  })

  it('is not a link within the page, a link to another site, or code', () => {
    expect(broken('[a](#part) [b](https://example.org/none) [c](mailto:a@example.org)')).toEqual([])
    expect(broken('`[a](none.md)`\n\n```md\n[a](none.md)\n```\n')).toEqual([])
  })
})
