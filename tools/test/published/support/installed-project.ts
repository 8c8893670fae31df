import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { packages, readManifest, root, type Workspace } from '../../../workspaces.js'

const run = promisify(execFile)
const PROGRAMS = join(import.meta.dirname, '..', 'programs')
/** The files of packages that their READMEs show. */
const SHOWN = /<!-- from: packages\/(?<id>[\w-]+)\/test\/(?<path>[\w./-]+?)(?:#[\w-]+)? -->/g
const IMPORTED = /(?:from|import) '(?<name>[^']+)'/g

/** What a strict application has. The declarations of all packages are checked, too. */
export const COMPILER_OPTIONS = {
  target: 'ES2023',
  lib: ['ES2023', 'ESNext.Disposable'],
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  skipLibCheck: false,
}

/** A file that a README shows, and where it is below `src` of the project. */
interface Example {
  readonly file: string
  readonly target: string
}

function examples(): readonly Example[] {
  const found = packages().flatMap(({ folder }) =>
    [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(SHOWN)].flatMap(({ groups }) =>
      exampleOf(groups?.id ?? '', groups?.path ?? ''),
    ),
  )
  return [...new Map(found.map((example) => [example.target, example])).values()]
}

/** The file, and those beside it that it imports. */
function exampleOf(id: string, path: string): readonly Example[] {
  const file = join(root, 'packages', id, 'test', path)
  const target = join(id, path)
  const others = importsOf(file).filter((name) => name.startsWith('./'))
  return [{ file, target }, ...others.flatMap((name) => exampleOf(id, join(dirname(path), name.replace(/js$/, 'ts'))))]
}

function importsOf(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(IMPORTED)].map(({ groups }) => groups?.name ?? '')
}

/** The entries that programs import: not those for packages of the same version. */
export function publicEntries({ manifest }: Workspace): readonly string[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([path, target]) =>
    typeof target === 'object' && path !== './internal' ? [`${manifest.name}${path.slice(1)}`] : [],
  )
}

/** The package that an import is from. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/')
}

/** The versions that the tests of this repository use, so that the tests fail for no change elsewhere. */
function thirdParties(): Readonly<Record<string, string>> {
  const peers = packages().flatMap(({ manifest }) => Object.keys({ ...manifest.peerDependencies }))
  const imported = examples().flatMap(({ file }) => importsOf(file))
  const names = [
    ...peers,
    ...imported,
    'typescript',
    '@types/node',
    '@types/pg',
    'reflect-metadata',
    '@azure/storage-blob',
    'rxjs',
  ]
  const wanted = new Set(names.filter((name) => !/^(\.|node:|@leasehold\/)/.test(name)).map(packageOf))
  return Object.fromEntries([...wanted].sort().map((name) => [name, readManifest(installed(name)).version]))
}

function installed(name: string): string {
  // Those of a package are other versions than the ones at the root.
  const places = [...packages().map(({ folder }) => folder), root].map((place) => join(place, 'node_modules', name))
  const found = places.find((place) => existsSync(place))
  if (found === undefined) throw new Error(`${name} is not installed in this repository`)
  return found
}

/** An empty project, into which npm installs the tarballs of all packages. */
export async function installProject(folder: string): Promise<void> {
  const tarballs = join(folder, 'tarballs')
  mkdirSync(tarballs, { recursive: true })
  const folders = packages().map((workspace) => workspace.folder)
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', tarballs, ...folders], {
    cwd: folder,
    maxBuffer: 2 ** 26,
  })
  const ours = (JSON.parse(packed.stdout) as readonly { readonly name: string; readonly filename: string }[]).map(
    ({ name, filename }) => [name, `file:tarballs/${filename}`] as const,
  )
  const dependencies = { ...thirdParties(), ...Object.fromEntries(ours) }
  writeJson(join(folder, 'package.json'), { name: 'project', private: true, type: 'module', dependencies })
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--loglevel', 'error']
  await run('npm', ['install', ...quiet], { cwd: folder, timeout: 110_000 })
}

/** Adds the examples of the READMEs, programs that import everything, and settings of the compiler for each kind of project. */
export function fillProject(folder: string): void {
  for (const { file, target } of examples().filter(({ file: path }) => path.endsWith('.ts')))
    copy(file, join(folder, 'src', target))
  const entries = packages().flatMap(publicEntries)
  const required = entries.map((entry, index) => `import e${index} = require('${entry}')`)
  const used = `export const all = [${entries.map((_, index) => `e${index}`).join(', ')}]`
  writeFileSync(join(folder, 'src', 'required.cts'), `${required.join('\n')}\n${used}\n`)
  copy(join(PROGRAMS, 'examples.mjs'), join(folder, 'examples.mjs'))
  copy(
    join(root, 'packages', 'codemod', 'test', 'styles', 'readme', 'withdraw.ts.txt'),
    join(folder, 'withdraw.ts.txt'),
  )
  const nodenext = { ...COMPILER_OPTIONS, module: 'nodenext', rootDir: 'src', outDir: 'build' }
  writeJson(join(folder, 'tsconfig.json'), { compilerOptions: nodenext, include: ['src'] })
  const bundler = { ...COMPILER_OPTIONS, module: 'esnext', moduleResolution: 'bundler', noEmit: true }
  writeJson(join(folder, 'tsconfig.bundler.json'), { compilerOptions: bundler, include: ['src/**/*.ts'] })
}

/** Packages whose declarations need an optional peer: nobody has them without it. */
const taken: Readonly<Record<string, readonly string[]>> = { '@leasehold/node-cron': ['node-cron'] }

/**
 * A project with one package and only those that it needs: optional peers are missing. The others stay where they are
 * installed; ours are copies, so that they find nothing else.
 */
export function isolate(workspace: Workspace, installation: string, folder: string): void {
  const all = new Map(packages().map((other) => [other.manifest.name, other]))
  const wanted = [workspace.manifest.name, '@types/node']
  for (const name of wanted) {
    const target = join(folder, 'node_modules', name)
    if (existsSync(target)) continue
    mkdirSync(dirname(target), { recursive: true })
    const own = all.get(name)
    if (own === undefined) symlinkSync(join(installation, 'node_modules', name), target)
    else cpSync(join(installation, 'node_modules', name), target, { recursive: true, filter: isDeclared })
    const { dependencies, peerDependencies, peerDependenciesMeta = {} } = own?.manifest ?? {}
    const needed = Object.keys({ ...dependencies, ...peerDependencies })
    const isThere = (other: string) => peerDependenciesMeta[other]?.optional !== true || taken[name]?.includes(other)
    // The loop goes on to these.
    if (own !== undefined) wanted.push(...needed.filter(isThere))
  }
}

/** The compiler reads no sources and no maps of an installed package. */
function isDeclared(path: string): boolean {
  return !/\/src$|\.map$/.test(path)
}

function copy(file: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  cpSync(file, target)
}

function writeJson(file: string, value: object): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
