import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { buildPlayground } from '../write-playground.js'

/** What a visitor downloads at most, in bytes. */
const budget = 100_000

const textOf = (body: Uint8Array | undefined) => new TextDecoder().decode(body)

describe('the built playground', async () => {
  const files = await buildPlayground()

  it('is loaded by less than 100 kB', () => {
    const sizes = [...files.values()].map(({ body }) => gzipSync(body).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(budget)
  })

  it('refers to its own files only, by relative paths, and has nothing inline', () => {
    const index = textOf(files.get('')?.body)
    const references = [...index.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path ?? '')
    expect(references).toHaveLength(3)
    for (const path of references) expect(files.has(path), path).toBe(true)
    expect(index).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i)
  })

  it('has no module of Node, and evaluates no text', () => {
    for (const { path, body } of files.values()) {
      expect(textOf(body), path).not.toMatch(/from"node:|import\("node:|\beval\(|new Function\(/)
    }
  })

  it('has the engine itself', () => {
    const program = [...files.values()].find(({ type }) => type.startsWith('text/javascript'))
    // The text is in a message of an error of core.
    expect(textOf(program?.body)).toContain('heartbeatInterval may be Infinity only with heartbeatTimeout = Infinity')
  })
})
