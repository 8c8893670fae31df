import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { packages, type Workspace } from './workspaces.js'

/** Where the packed packages stay: the `package.json` of the application names them. */
const FOLDER = 'leasehold-packages'

const USAGE = `usage: npm run pack -- FOLDER|--global [ARGUMENT…]

Builds the packages, packs them, and installs them in the folder of an application, which has a package.json. Use it in the
place of 'npm install ARGUMENT…' until the packages are published:

  npm run pack -- ../my-app @leasehold/redis @leasehold/core ioredis
  npm run pack -- --global @leasehold/cli
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

/** Packs packages into a folder. Returns the files. */
function packInto(folder: string, packed: readonly Workspace[]): readonly string[] {
  // Those of an earlier time are the files of other versions.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const folders = packed.map((workspace) => workspace.folder)
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...folders]
  const made = JSON.parse(npm(args, folder)) as readonly { readonly filename: string }[]
  return made.map(({ filename }) => join(folder, filename))
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
  const wanted = given.some((argument) => ours.has(argument))
    ? given
    : ['@leasehold/core', '@leasehold/local', ...given]
  const needed = new Map(wanted.flatMap((name) => [...withOurs(name, ours)]))
  const others = wanted.filter((argument) => !ours.has(argument))
  const folder = isGlobal ? mkdtempSync(join(tmpdir(), 'leasehold-packages-')) : join(application, FOLDER)
  const files = packInto(folder, [...needed.values()])
  const cwd = isGlobal ? folder : application
  const shown = files.map((file) => (isGlobal ? file : `./${relative(application, file)}`))
  const args = ['install', ...(isGlobal ? ['--global'] : []), ...others, ...shown]
  process.stderr.write(`npm ${args.join(' ')}\n`)
  npm(args, cwd, 'inherit')
  if (isGlobal) rmSync(folder, { recursive: true })
}

main(process.argv.slice(2))
