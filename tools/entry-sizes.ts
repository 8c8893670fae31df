import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { packages, root, shown, type Workspace } from './workspaces.js'

const BUDGETS = join(root, 'tools', 'size-budgets.json')

/** A budget is the size at the time it was set, and this much more; a small entry has some bytes. */
const ROOM = 0.05
const LEAST_ROOM = 50

/** What an application loads when it imports an entry, minified and compressed, without the packages that npm installs for it. */
export interface EntrySize {
  /** As it is imported, such as `@leasehold/core/store`; of a program its name, such as `leasehold`. */
  readonly entry: string
  /** In bytes. */
  readonly size: number
  /** The largest sources and their sizes in bytes, minified and not compressed. */
  parts(): Promise<readonly (readonly [path: string, size: number])[]>
}

/** Measures every entry and program of the packages as they were built. */
async function entrySizes(): Promise<readonly EntrySize[]> {
  const sizes: EntrySize[] = []
  // One after the other: esbuild uses all cores for each.
  for (const workspace of packages()) {
    for (const files of entriesOf(workspace)) sizes.push(await sizeOf(files, workspace))
  }
  return sizes
}

interface EntryFiles {
  readonly entry: string
  readonly built: string
  readonly source: string
}

function entriesOf({ folder, manifest }: Workspace): readonly EntryFiles[] {
  const files = (entry: string, built: string, source: string) => {
    return { entry, built: join(folder, built), source: join(folder, source) }
  }
  const entries = Object.entries(manifest.exports ?? {}).flatMap(([path, target]) =>
    typeof target === 'object' && target.default !== undefined
      ? [files(join(manifest.name, path), target.default, target['@leasehold/source'] ?? target.default)]
      : [],
  )
  const programs = Object.entries(manifest.bin ?? {}).map(([name, file]) =>
    files(name, file, file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')),
  )
  return [...entries, ...programs]
}

async function sizeOf({ entry, built, source }: EntryFiles, workspace: Workspace): Promise<EntrySize> {
  if (!existsSync(built)) throw new Error(`${shown(built)} does not exist: run "npm run build" first`)
  const { metafile, outputFiles } = await minified(built, workspace)
  const loaded = loadedAtOnce(metafile)
  const contents = outputFiles.filter(({ path }) => loaded.some((name) => path === join(workspace.folder, name)))
  return {
    entry,
    size: gzipSync(Buffer.concat(contents.map((output) => output.contents)), { level: 9 }).length,
    // What was built has few files, whose names say little.
    parts: async () => largestParts((await minified(source, workspace)).metafile),
  }
}

async function minified(file: string, { folder, manifest }: Workspace) {
  return await build({
    entryPoints: [file],
    absWorkingDir: folder,
    outdir: 'measured',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    metafile: true,
    write: false,
    logLevel: 'error',
  })
}

/** The entry, and the files that it imports by a statement. What `import()` loads comes later, if at all. */
function loadedAtOnce({ outputs }: Metafile): readonly string[] {
  const found = new Set(
    Object.keys(outputs)
      .filter((name) => outputs[name]?.entryPoint !== undefined)
      .slice(0, 1),
  )
  // A set also visits what is added meanwhile.
  for (const name of found) {
    for (const { path, kind, external } of outputs[name]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) found.add(path)
    }
  }
  return [...found]
}

function largestParts(metafile: Metafile): readonly (readonly [path: string, size: number])[] {
  return loadedAtOnce(metafile)
    .flatMap((name) => Object.entries(metafile.outputs[name]?.inputs ?? {}))
    .map(([path, { bytesInOutput }]) => [path, bytesInOutput] as const)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 5)
}

/** What is wrong with the sizes, in a sentence each that says what to do. */
export async function sizeFaults(
  sizes: readonly EntrySize[],
  budgets: Readonly<Record<string, number>>,
): Promise<readonly string[]> {
  const faults: string[] = []
  for (const { entry, size, parts } of sizes) {
    const budget = budgets[entry]
    if (budget === undefined) faults.push(`${entry} has no budget: run "npm run sizes -- --update"`)
    else if (size > budget) {
      const largest = (await parts()).map(([path, bytes]) => `${path} ${bytes}`).join(', ')
      faults.push(
        `${entry} is ${size} bytes, minified and compressed; its budget is ${budget}. Its largest parts, before compression: ` +
          `${largest}. Load what few need by import(), or take the import back. If users get enough for it, run ` +
          `"npm run sizes -- --update", and say in the commit what they get`,
      )
    }
  }
  const measured = new Set(sizes.map(({ entry }) => entry))
  const gone = Object.keys(budgets).filter((entry) => !measured.has(entry))
  return [...faults, ...gone.map((entry) => `there is no entry ${entry}: run "npm run sizes -- --update"`)]
}

function readBudgets(): Readonly<Record<string, number>> {
  return existsSync(BUDGETS) ? JSON.parse(readFileSync(BUDGETS, 'utf8')) : {}
}

/** Sets every budget to the size of now and 5 % more. */
function writeBudgets(sizes: readonly EntrySize[]): void {
  const budgets = sizes.map(({ entry, size }) => [entry, size + Math.max(LEAST_ROOM, Math.ceil(size * ROOM))] as const)
  writeFileSync(BUDGETS, `${JSON.stringify(Object.fromEntries(budgets), null, 2)}\n`)
}

/** Prints each size with its budget, and what is wrong. Returns whether all are within their budgets. */
export async function reportSizes({ update }: { readonly update: boolean }): Promise<boolean> {
  const sizes = await entrySizes()
  if (update) writeBudgets(sizes)
  const budgets = readBudgets()
  for (const { entry, size } of sizes) {
    console.log(`${entry.padEnd(36)} ${String(size).padStart(7)} of ${String(budgets[entry] ?? '-').padStart(7)} bytes`)
  }
  const faults = await sizeFaults(sizes, budgets)
  for (const fault of faults) console.error(fault)
  return faults.length === 0
}
