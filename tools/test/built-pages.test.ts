import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { builtPage } from '../../packages/ui/src/page/built-page.js'
import { builtPages } from '../built-pages.js'

const source = fileURLToPath(new URL('../../packages/ui/src/page/built-page.ts', import.meta.url))

describe('the plugin for built pages', () => {
  it('puts the same files into a bundle, which needs no other module', async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [source],
      bundle: true,
      format: 'esm',
      platform: 'node',
      plugins: [builtPages],
      metafile: true,
      write: false,
    })
    expect(Object.keys(metafile.inputs)).toEqual([expect.stringMatching(/built-page\.ts$/)])
    const code = Buffer.from(outputFiles[0]?.contents ?? [])
    const published = await import(`data:text/javascript;base64,${code.toString('base64')}`)
    const files = await published.builtPage()
    const expected = await builtPage()
    expect([...files.keys()]).toEqual([...expected.keys()])
    for (const [path, file] of expected) {
      const { body, ...rest } = files.get(path)
      expect(rest).toEqual({ path, type: file.type, isImmutable: file.isImmutable })
      expect(Buffer.from(body).equals(file.body), path).toBe(true)
    }
  })
})
