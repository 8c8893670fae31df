import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bundledDependencies } from './bundled-dependencies.js'
import { latestEntry } from './release/changelog.js'
import { readChangesets } from './release/changesets.js'
import { publishOrder } from './release/publish-order.js'
import { CHANGESETS, changelogOf } from './release/version-packages.js'
import { packages, readManifest, root, shown, type Workspace } from './workspaces.js'

const USAGE = `usage: npm run release [-- --dry-run]

Checks, builds, packs and publishes all packages. --dry-run does all of that but the upload.
`

/** The tarballs and the SBOM. */
const OUT = join(root, 'release')

/** A reason not to publish. The message says what to do. */
class Refusal extends Error {}

interface Release {
  readonly isDryRun: boolean
  readonly version: string
  readonly ordered: readonly Workspace[]
  readonly env: NodeJS.ProcessEnv
}

/** The steps in order. Each throws if nothing may be published. */
const steps: readonly (readonly [title: string, run: (release: Release) => void])[] = [
  ['what may be published', mayPublish],
  ['the tree is clean', treeIsClean],
  ['versions and CHANGELOGs', versionsAreRight],
  ['build', () => run('npm', ['run', '--silent', 'build'])],
  ['check', () => run('npm', ['run', '--silent', 'check'])],
  ['pack', pack],
  ['SBOM', writeSbom],
  ['publish', publish],
]

/** A workflow that may ask for an identity token needs no other: npm trusts the workflow, and records where it came from. */
function hasIdentity(env: NodeJS.ProcessEnv): boolean {
  return (env.ACTIONS_ID_TOKEN_REQUEST_URL ?? '') !== ''
}

function mayPublish({ isDryRun, env }: Release): void {
  if (isDryRun || hasIdentity(env) || (env.NODE_AUTH_TOKEN ?? '') !== '') return
  throw new Refusal(
    'there is no token to publish with: let the workflow "Release" publish, which needs none, or set NODE_AUTH_TOKEN. ' +
      '"npm run release -- --dry-run" does all but the upload',
  )
}

function treeIsClean(): void {
  const changed = output('git', ['status', '--porcelain']).trimEnd()
  if (changed === '') return
  throw new Refusal(`commit or stash these first, so that what is published is in a commit:\n${changed}`)
}

/** One version everywhere, each with its entry in the CHANGELOG. A dry run may be ahead of the changesets. */
function versionsAreRight({ isDryRun, version, ordered }: Release): void {
  for (const workspace of ordered) {
    const { name } = workspace.manifest
    const latest = latestEntry(changelogOf(workspace))
    if (workspace.manifest.version !== version || latest?.version !== version) {
      const has = `${name} has the version ${workspace.manifest.version}, and ${latest?.version ?? 'none'} in its CHANGELOG`
      throw new Refusal(`${has}, and the repository ${version}: run "npm run version-packages"`)
    }
  }
  const left = readChangesets(CHANGESETS).map(({ file }) => shown(file))
  const unreleased = ordered.filter((workspace) => latestEntry(changelogOf(workspace))?.isUnreleased === true)
  const faults = [
    ...(left.length > 0 ? [`no version has these changesets yet: ${left.join(', ')}`] : []),
    ...(unreleased.length > 0 ? [`${unreleased.length} CHANGELOGs say that ${version} is unreleased`] : []),
  ]
  if (faults.length === 0) return
  const text = `${faults.join('. And ')}. Run "npm run version-packages" before the release`
  if (!isDryRun) throw new Refusal(text)
  console.log(text)
}

/** As `npm pack` names it. */
function tarballOf({ manifest }: Workspace, version: string): string {
  return join(OUT, `${manifest.name.replace('@', '').replace('/', '-')}-${version}.tgz`)
}

function pack({ version, ordered }: Release): void {
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT)
  const folders = ordered.map(({ folder }) => folder)
  const packed = JSON.parse(
    output('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', OUT, ...folders]),
  )
  const sizes = new Map<string, number>(packed.map((made: { name: string; size: number }) => [made.name, made.size]))
  for (const workspace of ordered) {
    const { name } = workspace.manifest
    console.log(`${String(sizes.get(name)).padStart(8)} bytes  ${basename(tarballOf(workspace, version))}`)
  }
}

/** Our packages, those that npm installs with them, and those that are a part of our code, as CycloneDX. Peers are the user's. */
function writeSbom({ ordered }: Release): void {
  const file = join(OUT, 'sbom.cdx.json')
  const tool = join(root, 'node_modules', '.bin', 'cyclonedx-npm')
  const workspaces = ordered.flatMap(({ manifest }) => ['--workspace', manifest.name])
  const format = ['--output-reproducible', '--output-format', 'JSON', '--output-file', file]
  run(tool, ['--omit', 'dev', 'peer', '--no-include-workspace-root', ...workspaces, ...format])
  const sbom = JSON.parse(readFileSync(file, 'utf8'))
  const known = new Set(sbom.components.map(({ purl }: { purl: string }) => purl.replace(/\?.*/, '')))
  const others = bundledDependencies.filter((name) => !name.startsWith('@leasehold/'))
  const bundled = others.map((name) => componentOf(name, ordered)).filter(({ purl }) => !known.has(purl))
  const components = [...sbom.components, ...bundled]
  writeFileSync(file, `${JSON.stringify({ ...sbom, components }, null, 2)}\n`)
  console.log(`${shown(file)}: ${components.length} components`)
}

/** A package whose code is in the files of ours. */
function componentOf(name: string, ordered: readonly Workspace[]) {
  // A package may have another version than the one at the root.
  const places = [...ordered.map(({ folder }) => folder), root].map((place) => join(place, 'node_modules', name))
  const { version, license } = readManifest(places.find((place) => existsSync(place)) ?? name)
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return {
    'bom-ref': `bundled|${name}@${version}`,
    type: 'library',
    name,
    version,
    licenses: [{ license: { id: license } }],
    purl,
  }
}

function publish({ isDryRun, version, ordered, env }: Release): void {
  for (const workspace of ordered) {
    const { name } = workspace.manifest
    if (!isDryRun && isPublished(name, version)) {
      console.log(`${name} ${version} was published before`)
      continue
    }
    const provenance = hasIdentity(env) && !isDryRun ? ['--provenance'] : []
    const args = ['publish', tarballOf(workspace, version), '--access', 'public', '--ignore-scripts', ...provenance]
    run('npm', isDryRun ? [...args, '--dry-run', '--loglevel', 'error'] : args)
    console.log(`${isDryRun ? 'would publish' : 'published'} ${name} ${version}`)
  }
}

/** After a release that failed half-way, the rest is published. */
function isPublished(name: string, version: string): boolean {
  const { status, stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' })
  return status === 0 && stdout.trim() === version
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0)
    throw new Refusal(`${[basename(command), ...args].join(' ')} failed${error ? `: ${error.message}` : ''}`)
}

function output(command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Refusal(`${command} ${args.join(' ')} failed: ${stderr}`)
  return stdout
}

function main(asked: readonly string[]): void {
  if (asked.some((argument) => argument !== '--dry-run')) {
    process.stderr.write(USAGE)
    process.exitCode = 64
    return
  }
  const isDryRun = asked.includes('--dry-run')
  const release = { isDryRun, version: readManifest(root).version, ordered: publishOrder(packages()), env: process.env }
  try {
    for (const [title, step] of steps) {
      console.log(`\n── ${title} ──`)
      step(release)
    }
    console.log(isDryRun ? '\nA dry run: nothing was published.' : `\n${release.version} is published.`)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.error(`\nNot published: ${error.message}.`)
    process.exitCode = 1
  }
}

main(process.argv.slice(2))
