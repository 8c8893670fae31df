import { readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PageFile, PageFiles } from './page-file.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The sources that index.html names, each built into one file. */
const sources = ['client/main.tsx', 'client/page.css', 'client/icon.svg']

/** Builds the page with esbuild. Only the sources use it: the published package has the files. */
export async function buildPage(): Promise<PageFiles> {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { app: 'client/main.tsx', style: 'client/page.css', icon: 'client/icon.svg' },
    outdir: 'assets',
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const assets = outputFiles.map(({ path, contents }): PageFile => {
    const asset = relative(root, path).split(sep).join('/')
    return { path: asset, type: typeOf(asset), body: contents, isImmutable: true }
  })
  let index = await readFile(join(root, 'client/index.html'), 'utf8')
  for (const source of sources) {
    const built = Object.entries(metafile.outputs).find(([, { inputs }]) => source in inputs)
    if (built === undefined) throw new Error(`esbuild made no file of ${source}`)
    index = index.replace(source, built[0])
  }
  const page: PageFile = {
    path: '',
    type: 'text/html; charset=utf-8',
    body: new TextEncoder().encode(index),
    isImmutable: false,
  }
  return new Map([page, ...assets].map((file) => [file.path, file]))
}

function typeOf(path: string): string {
  const type = types[path.slice(path.lastIndexOf('.') + 1)]
  if (type === undefined) throw new Error(`there is no media type for ${path}`)
  return type
}
