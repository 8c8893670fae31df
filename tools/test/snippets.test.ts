import { describe, expect, it } from 'vitest'
import { regionOf } from '../docs/region.js'
import { snippetFaults, withSnippets } from '../docs/snippets.js'

const SOURCE = 'tools/test/fixtures/snippets/greeting.ts'

function page(source: string, code: string): string {
  return ['# A page', '', `<!-- from: ${source} -->`, '```ts', code, '```', '', 'The end.'].join('\n')
}

describe('a region', () => {
  it('is the text between its marks, without the margin', () => {
    expect(regionOf('a\n  // #region x\n  b\n    c\n  // #endregion x\nd', 'x')).toBe('b\n  c')
  })

  it('does not contain the marks of other regions', () => {
    expect(regionOf('// #region x\na\n// #region y\nb\n// #endregion y\n// #endregion x', 'x')).toBe('a\nb')
  })

  it('may be in a file with # comments', () => {
    expect(regionOf('# #region x\na = 1\n# #endregion x', 'x')).toBe('a = 1')
  })

  it('is the whole file without a name', () => {
    expect(regionOf('a\nb\n', undefined)).toBe('a\nb')
  })

  it('must exist and have an end', () => {
    expect(() => regionOf('a', 'x')).toThrow('no region "x"')
    expect(() => regionOf('// #region x\na', 'x')).toThrow('region "x" does not end')
  })
})

describe('the snippets of a page', () => {
  it('are correct when they equal their source', () => {
    expect(snippetFaults(page(`${SOURCE}#inner`, "return 'Hello, '.concat(name)"))).toEqual([])
  })

  it('are wrong when they differ from the source', () => {
    expect(snippetFaults(page(`${SOURCE}#inner`, 'return name'))).toEqual([
      `line 4: differs from ${SOURCE}#inner; run "npm run docs:update"`,
    ])
  })

  it('are wrong when they name no source', () => {
    expect(snippetFaults('```ts\nconst a = 1\n```')).toHaveLength(1)
    expect(snippetFaults('```sh\nnpm install\n```')).toEqual([])
  })

  it('are wrong when no code is below the name of a source, or code of another language', () => {
    const lonely = `<!-- from: ${SOURCE}#inner -->\n\nText.`
    expect(snippetFaults(lonely)).toEqual([`line 1: ${SOURCE}#inner has no code block below it`])
    const other = `<!-- from: ${SOURCE}#inner -->\n\n\`\`\`sh\nnpm install\n\`\`\``
    expect(snippetFaults(other)).toEqual([`line 3: ${SOURCE}#inner is no sh`])
  })

  it('are wrong when their source is missing', () => {
    expect(snippetFaults(page('tools/none.ts#x', ''))).toEqual(['line 4: tools/none.ts#x: no such file'])
    expect(snippetFaults(page(`${SOURCE}#none`, ''))).toEqual([`line 4: ${SOURCE}#none: no region "none"`])
  })

  it('are replaced by their sources, in place', () => {
    const two = `${page(`${SOURCE}#greeting`, 'old')}\n${page(`${SOURCE}#inner`, 'old\nand longer')}`
    const updated = withSnippets(two)
    expect(snippetFaults(updated)).toEqual([])
    expect(updated.match(/The end\./g)).toHaveLength(2)
    expect(withSnippets(updated)).toBe(updated)
  })
})
