import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { builtPages } from './built-pages.js'
import { bundledDependencies } from './bundled-dependencies.js'
import { filesBelow, packages, root, type Workspace } from './workspaces.js'

/**
 * Writes the JavaScript of a package beside its declarations: one file for each entry and program, and one for what they share or
 * load later. Node spends more time on finding and linking a hundred small modules than on running them. The code is
 * neither shortened nor renamed, and its source maps lead to the published sources.
 */
async function bundle({ folder, manifest }: Workspace): Promise<void> {
  const entries = Object.values(manifest.exports ?? {}).flatMap((entry) =>
    typeof entry === 'string' ? [] : [join(folder, entry['@leasehold/source'] ?? '')],
  )
  // The program dist/main.js is made from src/main.ts.
  const programs = Object.values(manifest.bin ?? {}).map((file) =>
    join(folder, file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')),
  )
  // The programs of threads, which no module imports.
  const threads = filesBelow(join(folder, 'src'), '-program.ts')
  const dist = join(folder, 'dist')
  const { dependencies = {}, peerDependencies = {} } = manifest
  const { metafile, outputFiles } = await build({
    entryPoints: [...entries, ...programs, ...threads],
    outdir: dist,
    outbase: join(folder, 'src'),
    bundle: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys({ ...dependencies, ...peerDependencies }),
    plugins: [builtPages],
    metafile: true,
    write: false,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  })
  const included = bundledDependencies.filter((name) =>
    Object.keys(metafile.inputs).some((file) => file.includes(`node_modules/${name}/`)),
  )
  const files = new Map(outputFiles.map(({ path, contents }) => [path, Buffer.from(contents)]))
  if (included.length > 0) {
    files.set(join(dist, 'included-licences.txt'), Buffer.from(included.map(licenceOf).join('\n')))
  }
  // Files that are right stay as they are: programs that run meanwhile, or another build of the same sources, read them.
  for (const [path, contents] of files) if (!hasContents(path, contents)) writeWhole(path, contents)
  for (const path of filesBelow(dist, '.js', '.js.map', '.txt')) if (!files.has(path)) rmSync(path, { force: true })
}

function hasContents(path: string, contents: Buffer): boolean {
  return existsSync(path) && readFileSync(path).equals(contents)
}

/** Writes a file so that nobody reads a part of it. */
function writeWhole(path: string, contents: Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, contents)
  renameSync(unfinished, path)
}

function licenceOf(name: string): string {
  const folder = join(root, 'node_modules', name)
  const file = readdirSync(folder).find((entry) => entry.startsWith('LICENSE')) ?? 'LICENSE'
  return `${name}\n\n${readFileSync(join(folder, file), 'utf8')}`
}

await Promise.all(packages().map(bundle))
