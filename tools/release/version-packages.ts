import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packages, readManifest, root, shown, type Workspace, workspacesIn } from '../workspaces.js'
import { latestEntry, withChanges } from './changelog.js'
import { nextVersion, readChangesets } from './changesets.js'

/** Where `npx changeset` writes. */
export const CHANGESETS = join(root, '.changeset')

export function changelogOf({ folder }: Workspace): string {
  const file = join(folder, 'CHANGELOG.md')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/**
 * Turns the changesets into the next version of all packages and the entries of their CHANGELOGs. A version that was never
 * published stays, and gets the entries.
 *
 * `changeset version` is no replacement: it would take a minor version of core for a major one of all packages that have core
 * as a peer, because `^0.1.0` excludes 0.2.0.
 */
export function versionPackages(): string {
  const changesets = readChangesets(CHANGESETS)
  const published = packages()
  const names = new Set(published.map(({ manifest }) => manifest.name))
  for (const { file, bumps } of changesets) {
    const unknown = [...bumps.keys()].filter((name) => !names.has(name))
    if (unknown.length > 0) throw new Error(`${shown(file)} names ${unknown.join(', ')}, which is not published`)
  }
  const current = readManifest(root).version
  const isUnreleased = published.some((workspace) => latestEntry(changelogOf(workspace))?.isUnreleased === true)
  if (changesets.length === 0 && !isUnreleased) {
    throw new Error('there are no changesets: write one by "npx changeset" for each change that users should read of')
  }
  const version = isUnreleased ? current : nextVersion(current, changesets)
  for (const folder of [root, ...workspaces().map((workspace) => workspace.folder)])
    setVersion(folder, current, version)
  for (const workspace of published) {
    const text = withChanges(changelogOf(workspace), workspace.manifest.name, version, changesets)
    writeFileSync(join(workspace.folder, 'CHANGELOG.md'), text)
  }
  for (const { file } of changesets) rmSync(file)
  return version
}

function workspaces(): readonly Workspace[] {
  const parents = ['packages', 'examples', 'bench', 'testing']
  const testing = { id: 'testing', folder: join(root, 'testing'), manifest: readManifest(join(root, 'testing')) }
  return [...parents.flatMap(workspacesIn), testing]
}

/** Changes the version of a manifest, and the ranges that name it, and keeps all else as it is written. */
function setVersion(folder: string, current: string, version: string): void {
  const file = join(folder, 'package.json')
  const old = current.replaceAll('.', '\\.')
  const text = readFileSync(file, 'utf8')
  const changed = text
    .replace(new RegExp(`^( {2}"version": ")${old}"`, 'm'), `$1${version}"`)
    .replaceAll(new RegExp(`^( {4}"@leasehold/[^"]+": "\\^?)${old}"`, 'gm'), `$1${version}"`)
  if (changed !== text) writeFileSync(file, changed)
}
