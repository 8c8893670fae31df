import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How much a version grows. */
export type Bump = 'patch' | 'minor' | 'major'

/** One change as its users read it: a file that `npx changeset` has written. */
export interface Changeset {
  readonly file: string
  /** How much the change means to the users of each package. */
  readonly bumps: ReadonlyMap<string, Bump>
  readonly summary: string
}

const SHAPE = /^---\n(?<front>[\s\S]*?)\n?---\n(?<summary>[\s\S]*)$/
const LINE = /^["']?(?<name>@?[\w./-]+)["']?:\s*["']?(?<bump>patch|minor|major)["']?$/

/** The changes that no version has yet, by the names of their files. */
export function readChangesets(folder: string): readonly Changeset[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => parseChangeset(join(folder, name), readFileSync(join(folder, name), 'utf8')))
}

/** @throws Error if the file is no changeset; the message says what it should be. */
export function parseChangeset(file: string, text: string): Changeset {
  const { front = '', summary = '' } = SHAPE.exec(text.replaceAll('\r\n', '\n'))?.groups ?? {}
  const bumps = new Map<string, Bump>()
  for (const line of front.split('\n').filter((part) => part.trim() !== '')) {
    const { name, bump } = LINE.exec(line.trim())?.groups ?? {}
    if (name === undefined) throw new Error(`${file}: "${line}" should be like "@leasehold/core": minor`)
    bumps.set(name, bump as Bump)
  }
  if (bumps.size === 0) throw new Error(`${file} names no package: write it by "npx changeset", or delete it`)
  if (summary.trim() === '') throw new Error(`${file} has no summary: say what the change means to users`)
  return { file, bumps, summary: summary.trim() }
}

const BUMPS: readonly Bump[] = ['patch', 'minor', 'major']

/** The version after all these changes. Before 1.0.0, a minor version may break users, and only `major` leads to 1.0.0. */
export function nextVersion(version: string, changesets: readonly Changeset[]): string {
  const ranks = changesets.flatMap(({ bumps }) => [...bumps.values()].map((bump) => BUMPS.indexOf(bump)))
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const next = { patch: [major, minor, patch + 1], minor: [major, minor + 1, 0], major: [major + 1, 0, 0] }
  return next[BUMPS[Math.max(0, ...ranks)] ?? 'patch'].join('.')
}
