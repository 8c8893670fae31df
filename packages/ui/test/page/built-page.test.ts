import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { builtPage } from '../../src/page/built-page.js'

const client = fileURLToPath(new URL('../../client', import.meta.url))

/** What a reader downloads at most, in bytes. */
const budget = 60_000

const textOf = (body: Uint8Array) => new TextDecoder().decode(body)

describe('the built page', () => {
  it('has the page, a program, a style sheet and an icon', async () => {
    const files = await builtPage()
    expect([...files.values()].map(({ path, type, isImmutable }) => [path, type, isImmutable])).toEqual([
      ['', 'text/html; charset=utf-8', false],
      [expect.stringMatching(/^assets\/app-[A-Z0-9]{8}\.js$/), 'text/javascript; charset=utf-8', true],
      [expect.stringMatching(/^assets\/style-[A-Z0-9]{8}\.css$/), 'text/css; charset=utf-8', true],
      [expect.stringMatching(/^assets\/icon-[A-Z0-9]{8}\.svg$/), 'image/svg+xml', true],
    ])
  })

  it('is small', async () => {
    const sizes = [...(await builtPage()).values()].map(({ body }) => gzipSync(body).length)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(budget)
  })

  it('is the same each time', async () => {
    const [one, other] = await Promise.all([builtPage(), builtPage()])
    expect([...one.keys()]).toEqual([...other.keys()])
  })

  it('refers to its own files only, by relative paths', async () => {
    const files = await builtPage()
    const index = textOf(files.get('')?.body ?? new Uint8Array())
    const references = [...index.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path)
    expect(references.length).toBe(3)
    for (const path of references) expect(files.has(path ?? ''), path).toBe(true)
  })

  it('names no other host: the names of XML are no addresses', async () => {
    for (const { path, body } of (await builtPage()).values()) {
      const addresses = textOf(body).match(/(?:\b[a-z]+:)?\/\/[a-z0-9-]+\.[^\s"'`)]*/gi) ?? []
      expect(
        addresses.filter((address) => !address.startsWith('http://www.w3.org/')),
        path || 'index',
      ).toEqual([])
    }
  })

  it('has no inline script, style or handler, as its content security policy demands', async () => {
    const index = textOf((await builtPage()).get('')?.body ?? new Uint8Array())
    expect(index).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i)
    expect([...index.matchAll(/<script[^>]*>([^<]*)/g)].map(([, content]) => content)).toEqual([''])
  })
})

describe('the sources of the page', () => {
  const sources = readdirSync(client, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(ts|tsx|html)$/.test(path),
  )

  it('never make markup out of text', () => {
    const dangerous =
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function/
    const found = sources.filter((path) => dangerous.test(readFileSync(join(client, path), 'utf8')))
    expect(found).toEqual([])
  })

  it('make every address of a link from a route', () => {
    const found = sources.flatMap((path) =>
      [...readFileSync(join(client, path), 'utf8').matchAll(/href=\{([^}]*)\}/g)]
        .map(([, code]) => code ?? '')
        .filter((code) => !/^(leaseHref|hrefOf)\(/.test(code))
        .map((code) => `${path}: ${code}`),
    )
    expect(found).toEqual([])
  })

  it('are short files', () => {
    const long = sources.filter((path) => readFileSync(join(client, path), 'utf8').split('\n').length > 250)
    expect(long).toEqual([])
  })
})
