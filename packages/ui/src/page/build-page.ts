import { readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BuildOptions } from 'esbuild'
import type { PageFile, PageFiles } from './page-file.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A page in TSX. */
export interface PageSources {
  /** The folder with `client/index.html`. */
  readonly root: string
  /** What `index.html` names, each built into one file; paths from the folder. */
  readonly entries: { readonly app: string; readonly style: string; readonly icon: string }
  /** What stands in a browser for modules and globals of Node. */
  readonly standIns?: Pick<BuildOptions, 'alias' | 'inject'>
}

const uiPage: PageSources = {
  root,
  entries: { app: 'client/main.tsx', style: 'client/page.css', icon: 'client/icon.svg' },
}

/** Builds a page with esbuild, that of this package unless given. Only the sources use it: the published package has the files. */
export async function buildPage({ root, entries, standIns }: PageSources = uiPage): Promise<PageFiles> {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
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
    conditions: ['@leasehold/source'],
    ...standIns,
  })
  const assets = outputFiles.map(({ path, contents }): PageFile => {
    const asset = relative(root, path).split(sep).join('/')
    return { path: asset, type: typeOf(asset), body: contents, isImmutable: true }
  })
  let index = await readFile(join(root, 'client/index.html'), 'utf8')
  for (const source of Object.values(entries)) {
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
