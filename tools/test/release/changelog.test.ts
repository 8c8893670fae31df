import { describe, expect, it } from 'vitest'
import { latestEntry, withChanges } from '../../release/changelog.js'
import { nextVersion, parseChangeset } from '../../release/changesets.js'

const changeset = (bump: string, summary: string, name = '@leasehold/core') =>
  parseChangeset('a.md', `---\n"${name}": ${bump}\n---\n\n${summary}\n`)

const FIRST = `# @leasehold/core

## 0.1.0 (unreleased)

The first version.

- Leases.
`

describe('a changeset', () => {
  it('is read as changesets writes it', () => {
    const { bumps, summary } = parseChangeset(
      'a.md',
      `---\n"@leasehold/core": minor\n'@leasehold/redis': patch\n---\n\nA claim is faster.\n\nBy half.\n`,
    )
    expect([...bumps]).toEqual([
      ['@leasehold/core', 'minor'],
      ['@leasehold/redis', 'patch'],
    ])
    expect(summary).toBe('A claim is faster.\n\nBy half.')
  })

  it.each([
    ['---\n"@leasehold/core": tiny\n---\n\nX\n', '"@leasehold/core": tiny" should be like "@leasehold/core": minor'],
    ['---\n---\n\nX\n', 'names no package'],
    ['nothing', 'names no package'],
    ['---\n"@leasehold/core": patch\n---\n\n', 'has no summary'],
  ])('that is wrong is rejected: %j', (text, message) => {
    expect(() => parseChangeset('a.md', text)).toThrow(message)
  })
})

describe('the next version', () => {
  it.each([
    ['0.1.0', ['patch'], '0.1.1'],
    ['0.1.3', ['patch', 'minor'], '0.2.0'],
    ['0.2.1', ['major', 'patch'], '1.0.0'],
    ['1.2.3', ['patch'], '1.2.4'],
  ])('of %s after %j is %s', (version, bumps, next) => {
    expect(
      nextVersion(
        version,
        bumps.map((bump) => changeset(bump, 'X')),
      ),
    ).toBe(next)
  })
})

describe('a CHANGELOG', () => {
  it('gets an entry above the others, which stay', () => {
    const released = withChanges(FIRST, '@leasehold/core', '0.1.0', [])
    const changes = [
      changeset('patch', 'One.'),
      changeset('minor', 'Two,\nin two lines.'),
      changeset('patch', 'Not here.', '@leasehold/redis'),
    ]
    expect(withChanges(released, '@leasehold/core', '0.2.0', changes)).toBe(`# @leasehold/core

## 0.2.0

### Minor Changes

- Two,
  in two lines.

### Patch Changes

- One.

## 0.1.0

The first version.

- Leases.
`)
  })

  it('says so if nothing changed in this package', () => {
    const changed = withChanges('# @leasehold/core\n', '@leasehold/core', '0.2.0', [])
    expect(changed).toBe(
      '# @leasehold/core\n\n## 0.2.0\n\nNothing changed in this package. All packages have one version.\n',
    )
  })

  it('has the changes in an unreleased version, which is released then', () => {
    expect(latestEntry(FIRST)).toEqual({ version: '0.1.0', isUnreleased: true })
    const changed = withChanges(FIRST, '@leasehold/core', '0.1.0', [changeset('minor', 'More.')])
    expect(latestEntry(changed)).toEqual({ version: '0.1.0', isUnreleased: false })
    expect(changed).toBe(`# @leasehold/core

## 0.1.0

The first version.

- Leases.

### Minor Changes

- More.
`)
  })

  it('without an entry has no version', () => {
    expect(latestEntry('# @leasehold/core\n')).toBeUndefined()
  })
})
