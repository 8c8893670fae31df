import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import type { PageFiles } from '../packages/ui/src/page/page-file.js'

/**
 * Puts the built files of a page in place of the module `src/page/built-page.ts`, which builds them when it runs from sources: a
 * published package needs no bundler, and a bundle that somebody makes of it still has its page.
 */
export const builtPages: Plugin = {
  name: 'built-pages',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]src[\\/]page[\\/]built-page\.ts$/ }, async ({ path }) => {
      const sources = await import(pathToFileURL(path).href)
      return { contents: moduleOf(await sources.builtPage()), loader: 'js' }
    })
  },
}

/** All files of a page are texts. */
function moduleOf(files: PageFiles): string {
  const texts = [...files.values()].map((file) => ({ ...file, body: new TextDecoder().decode(file.body) }))
  return `const texts = ${JSON.stringify(texts, undefined, 1)}
export async function builtPage() {
  const encoder = new TextEncoder()
  return new Map(texts.map((file) => [file.path, { ...file, body: encoder.encode(file.body) }]))
}
`
}
