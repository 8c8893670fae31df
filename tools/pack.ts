import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { packages, readManifest, type Workspace } from './workspaces.js'

/** Where the packed packages stay: the `package.json` of the application names them. */
const FOLDER = 'leasehold-packages'

const USAGE = `usage: npm run pack -- FOLDER|--global [ARGUMENT…]

Builds the packages, packs them, and installs them in the folder of an application, which has a package.json. Use it in the
place of 'npm install ARGUMENT…' until the packages are published:

  npm run pack -- ../my-app @leasehold/redis @leasehold/core ioredis
  npm run pack -- --global @leasehold/cli

Those that its package.json names already are packed, too, so that all are of one build.
In the place of 'npm install': npm run pack -- ../my-app
`

/** The package, and those of ours that it needs. */
function withOurs(name: string, ours: ReadonlyMap<string, Workspace>, found = new Map<string, Workspace>()) {
  const own = ours.get(name)
  if (own === undefined || found.has(name)) return found
  found.set(name, own)
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = own.manifest
  const needed = Object.keys({ ...dependencies, ...peerDependencies })
  for (const other of needed) if (peerDependenciesMeta[other]?.optional !== true) withOurs(other, ours, found)
  return found
}

/** The packages that the `package.json` of the application names already. */
function namedIn(application: string): readonly string[] {
  const { dependencies = {}, devDependencies = {} } = readManifest(application)
  return Object.keys({ ...dependencies, ...devDependencies })
}

/** Packs packages into a folder. Returns the file of each. */
function packInto(folder: string, packed: readonly Workspace[]): ReadonlyMap<string, string> {
  // Those of an earlier time are the files of other versions.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const folders = packed.map((workspace) => workspace.folder)
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...folders]
  const made = JSON.parse(npm(args, folder)) as readonly { readonly name: string; readonly filename: string }[]
  return new Map(made.map(({ name, filename }) => [name, join(folder, filename)]))
}

function npm(args: readonly string[], cwd: string, output: 'pipe' | 'inherit' = 'pipe'): string {
  const { status, stdout } = spawnSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', output, 'inherit'] })
  // npm has said why.
  if (status !== 0) process.exit(status ?? 1)
  return stdout ?? ''
}

function main([target, ...given]: readonly string[]): void {
  const isGlobal = target === '--global' || target === '-g'
  if (target === undefined || (target.startsWith('-') && !isGlobal)) {
    process.stderr.write(USAGE)
    process.exitCode = 64
    return
  }
  // npm changes to the folder of the repository before it runs this.
  const application = resolve(process.env.INIT_CWD ?? '.', target)
  if (!isGlobal && !existsSync(join(application, 'package.json'))) {
    process.stderr.write(`${application} has no package.json: run 'npm init -y' there first\n`)
    process.exitCode = 64
    return
  }
  const ours = new Map(packages().map((workspace) => [workspace.manifest.name, workspace]))
  // All packages of an application are of one build, and the files that its package.json names are there.
  const before = isGlobal ? [] : namedIn(application)
  const wanted = [...given, ...before].some((name) => ours.has(name))
    ? given
    : ['@leasehold/core', '@leasehold/local', ...given]
  const needed = new Map([...wanted, ...before].flatMap((name) => [...withOurs(name, ours)]))
  const others = wanted.filter((argument) => !ours.has(argument))
  const folder = isGlobal ? mkdtempSync(join(tmpdir(), 'leasehold-packages-')) : join(application, FOLDER)
  const files = packInto(folder, [...needed.values()])
  const cwd = isGlobal ? folder : application
  const install = (args: readonly string[], names: ReadonlySet<string>): void => {
    const chosen = [...files].flatMap(([name, file]) => (names.has(name) ? [file] : []))
    const shown = chosen.map((file) => (isGlobal ? file : `./${relative(application, file)}`))
    const all = ['install', ...(isGlobal ? ['--global'] : []), ...args, ...shown]
    process.stderr.write(`npm ${all.join(' ')}\n`)
    npm(all, cwd, 'inherit')
  }
  const names = new Set(needed.keys())
  if (others.some((argument) => argument.startsWith('-'))) {
    // An option such as --save-dev would move those that package.json names already.
    const kept = new Set(before.filter((name) => names.has(name) && !given.includes(name)))
    if (kept.size > 0) install([], kept)
    for (const name of kept) names.delete(name)
  }
  install(others, names)
  if (isGlobal) rmSync(folder, { recursive: true })
}

main(process.argv.slice(2))
