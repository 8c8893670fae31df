import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { brokenLinks } from '../docs/links.js'
import { root } from '../workspaces.js'

const broken = (page: string): string[] => brokenLinks(join(root, 'PAGE.md'), page)

describe('a link that leads nowhere', () => {
  it('is one to a file that does not exist', () => {
    expect(broken('[a](LICENSE), [b](./tools/none.ts) and [c](none.md#part "title")')).toEqual([
      './tools/none.ts',
      'none.md#part',
    ])
  })

  it('is found in a reference, too', () => {
    expect(broken('See [a].\n\n[a]: ./none.md\n')).toEqual(['./none.md'])
  })

  it('is not one to the page itself, to another site, or one that is only shown', () => {
    expect(broken('[a](#part) [b](https://example.org/none) [c](mailto:a@example.org)')).toEqual([])
    expect(broken('`[a](none.md)`\n\n```md\n[a](none.md)\n```\n')).toEqual([])
  })
})
