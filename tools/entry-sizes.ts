import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { packages, root, shown, type Workspace } from './workspaces.js'

const BUDGETS = join(root, 'tools', 'size-budgets.json')

/** A budget is the size at the time it was set, and this much more. */
const ROOM = 0.05

/** What an application loads when it imports an entry, minified and compressed, without the packages that npm installs for it. */
export interface EntrySize {
  /** As it is imported, such as `@leasehold/core/store`; of a program its name, such as `leasehold`. */
  readonly entry: string
  /** In bytes. */
  readonly size: number
  /** The largest parts and their sizes in bytes, minified and not compressed. */
  readonly parts: readonly (readonly [path: string, size: number])[]
}

/** Measures every entry and program of the packages as they were built. */
export async function entrySizes(): Promise<readonly EntrySize[]> {
  const sizes: EntrySize[] = []
  // One after the other: esbuild uses all cores for each.
  for (const workspace of packages()) {
    for (const [entry, file] of entriesOf(workspace)) sizes.push(await sizeOf(entry, file, workspace))
  }
  return sizes
}

/** The file of each entry in `dist`. */
function entriesOf({ folder, manifest }: Workspace): readonly (readonly [entry: string, file: string])[] {
  const entries = Object.entries(manifest.exports ?? {}).flatMap(([path, target]) =>
    typeof target === 'object' && target.default !== undefined
      ? [[join(manifest.name, path), join(folder, target.default)] as const]
      : [],
  )
  const programs = Object.entries(manifest.bin ?? {}).map(([name, file]) => [name, join(folder, file)] as const)
  return [...entries, ...programs]
}

async function sizeOf(entry: string, file: string, { folder, manifest }: Workspace): Promise<EntrySize> {
  if (!existsSync(file)) throw new Error(`${shown(file)} does not exist: run "npm run build" first`)
  const { metafile, outputFiles } = await build({
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
  const loaded = loadedAtOnce(metafile)
  const contents = outputFiles.filter(({ path }) => loaded.some((name) => path === join(folder, name)))
  return {
    entry,
    size: gzipSync(Buffer.concat(contents.map((output) => output.contents)), { level: 9 }).length,
    parts: largestParts(metafile, loaded),
  }
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

function largestParts({ outputs }: Metafile, loaded: readonly string[]): EntrySize['parts'] {
  return loaded
    .flatMap((name) => Object.entries(outputs[name]?.inputs ?? {}))
    .map(([path, { bytesInOutput }]) => [path, bytesInOutput] as const)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 5)
}

/** What is wrong with the sizes, in a sentence each that says what to do. */
export function sizeFaults(sizes: readonly EntrySize[], budgets: Readonly<Record<string, number>>): readonly string[] {
  const measured = new Set(sizes.map(({ entry }) => entry))
  const gone = Object.keys(budgets).filter((entry) => !measured.has(entry))
  return [
    ...sizes.flatMap(({ entry, size, parts }) => {
      const budget = budgets[entry]
      if (budget === undefined) return [`${entry} has no budget: run "npm run sizes -- --update"`]
      if (size <= budget) return []
      const largest = parts.map(([path, bytes]) => `${path} ${bytes}`).join(', ')
      return [
        `${entry} is ${size} bytes, minified and compressed; its budget is ${budget}. Its largest parts, before compression: ` +
          `${largest}. Load what few need by import(), or take the import back. If users get enough for it, run ` +
          `"npm run sizes -- --update", and say in the commit what they get`,
      ]
    }),
    ...gone.map((entry) => `there is no entry ${entry}: run "npm run sizes -- --update"`),
  ]
}

export function readBudgets(): Readonly<Record<string, number>> {
  return existsSync(BUDGETS) ? JSON.parse(readFileSync(BUDGETS, 'utf8')) : {}
}

/** Sets every budget to the size of now and 5 % more. */
export function writeBudgets(sizes: readonly EntrySize[]): void {
  const budgets = sizes.map(({ entry, size }) => [entry, Math.ceil(size * (1 + ROOM))] as const)
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
  const faults = sizeFaults(sizes, budgets)
  for (const fault of faults) console.error(fault)
  return faults.length === 0
}
