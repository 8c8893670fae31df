import type { Bump, Changeset } from './changesets.js'

/** Stands after a version that was never published. */
const MARK = ' (unreleased)'
const HEADING = /^## (?<version>\d+\.\d+\.\d+)(?<mark> \(unreleased\))?$/m
const TITLES: readonly (readonly [Bump, string])[] = [
  ['major', '### Major Changes'],
  ['minor', '### Minor Changes'],
  ['patch', '### Patch Changes'],
]

/** The newest version of a CHANGELOG; `undefined` if there is none. */
export function latestEntry(changelog: string) {
  const { version, mark } = HEADING.exec(changelog)?.groups ?? {}
  return version === undefined ? undefined : { version, isUnreleased: mark !== undefined }
}

/** Adds the changes of a package in `version`. If the version is there and unreleased, they become a part of it. */
export function withChanges(
  changelog: string,
  name: string,
  version: string,
  changesets: readonly Changeset[],
): string {
  const changes = changesText(name, changesets)
  const latest = latestEntry(changelog)
  if (latest?.version === version) {
    const [before = '', ...after] = changelog.split(/(?=^## )/m)
    const [entry = '', ...older] = after
    const whole = [entry.replace(MARK, '').trimEnd(), changes].filter((part) => part !== '').join('\n\n')
    return [before, `${whole}\n`, ...older.map((text) => `\n${text.trimEnd()}\n`)].join('')
  }
  const text = changes === '' ? 'Nothing changed in this package. All packages have one version.' : changes
  const entry = `## ${version}\n\n${text}\n\n`
  const at = changelog.search(HEADING)
  return at < 0
    ? `${changelog.trimEnd()}\n\n${entry.trimEnd()}\n`
    : changelog.slice(0, at) + entry + changelog.slice(at)
}

function changesText(name: string, changesets: readonly Changeset[]): string {
  const groups = TITLES.map(([bump, title]) => {
    const summaries = changesets.filter(({ bumps }) => bumps.get(name) === bump).map(({ summary }) => summary)
    return summaries.length === 0 ? '' : `${title}\n\n${summaries.map(asPoint).join('\n')}`
  })
  return groups.filter((group) => group !== '').join('\n\n')
}

/** Further lines belong to the point. */
function asPoint(summary: string): string {
  return `- ${summary.replaceAll('\n', '\n  ').replaceAll(/[ \t]+$/gm, '')}`
}
