import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sizeFaults } from '../../entry-sizes.js'
import { latestEntry } from '../../release/changelog.js'
import { readChangesets } from '../../release/changesets.js'
import { publishOrder } from '../../release/publish-order.js'
import { CHANGESETS, changelogOf } from '../../release/version-packages.js'
import { filesBelow, packages, readManifest, root, type Workspace } from '../../workspaces.js'

/** Runs the command as a maintainer would who has no token. */
function release(...args: readonly string[]) {
  const env = { ...process.env, NODE_AUTH_TOKEN: '', ACTIONS_ID_TOKEN_REQUEST_URL: '' }
  const command = [join(root, 'node_modules', '.bin', 'tsx'), join(root, 'tools', 'release.ts'), ...args]
  return spawnSync(process.execPath, command, { cwd: root, env, encoding: 'utf8', timeout: 60_000 })
}

describe('npm run release', () => {
  it('refuses without a token, before it does anything else, and says what to do', () => {
    const { status, stderr } = release()
    expect(stderr).toMatch(
      /Not published: there is no token .* set NODE_AUTH_TOKEN\. .*--dry-run" does all but the upload\./,
    )
    expect(status).toBe(1)
  })

  it('explains itself', () => {
    expect(release('--dry')).toMatchObject({ status: 64, stderr: expect.stringMatching(/^usage: npm run release/) })
  })
})

describe('the order of publication', () => {
  const named = (name: string, peers: readonly string[] = [], optional: readonly string[] = []): Workspace => ({
    id: name,
    folder: name,
    manifest: {
      name,
      version: '0.1.0',
      peerDependencies: Object.fromEntries([...peers, ...optional].map((peer) => [peer, '^0.1.0'])),
      peerDependenciesMeta: Object.fromEntries(optional.map((peer) => [peer, { optional: true }])),
    },
  })
  const namesOf = (workspaces: readonly Workspace[]) => workspaces.map(({ manifest }) => manifest.name)

  it('has each package after those that it needs; peers that are optional may come later', () => {
    expect(namesOf(publishOrder([named('a', ['c']), named('b', ['a']), named('c', [], ['b'])]))).toEqual([
      'c',
      'a',
      'b',
    ])
  })

  it('does not exist if packages need each other', () => {
    expect(() => publishOrder([named('a', ['b']), named('b', ['a'])])).toThrow('these packages need each other: a, b')
  })

  it('has all packages', () => {
    const names = namesOf(publishOrder(packages()))
    expect([...names].sort()).toEqual(namesOf(packages()).sort())
    expect(names.indexOf('@leasehold/core')).toBeLessThan(names.indexOf('@leasehold/redis'))
  })
})

describe('changesets', () => {
  it('give all packages one version', () => {
    const { fixed } = JSON.parse(readFileSync(join(CHANGESETS, 'config.json'), 'utf8'))
    const [patterns = []] = fixed as readonly (readonly string[])[]
    const isIn = (name: string) =>
      patterns.includes(name) || (patterns.includes('@leasehold/*') && /^@leasehold\//.test(name))
    expect(packages().filter(({ manifest }) => !isIn(manifest.name))).toEqual([])
  })

  it('are read by npm run version-packages', () => {
    const names = packages().map(({ manifest }) => manifest.name)
    for (const { file, bumps } of readChangesets(CHANGESETS))
      expect(names, file).toEqual(expect.arrayContaining([...bumps.keys()]))
  })

  it.each(packages())('$id has a CHANGELOG that begins with the version of now', (workspace) => {
    expect(latestEntry(changelogOf(workspace))?.version).toBe(readManifest(root).version)
    expect(changelogOf(workspace)).toMatch(new RegExp(`^# ${workspace.manifest.name}\n`))
  })
})

describe('the size of an entry', () => {
  const parts = async () => [['src/large.ts', 90] as const]

  it('may be its budget', async () => {
    expect(await sizeFaults([{ entry: 'a', size: 100, parts }], { a: 100 })).toEqual([])
  })

  it('may not be more: the message names the largest parts and the command', async () => {
    const [fault] = await sizeFaults([{ entry: 'a', size: 101, parts }], { a: 100 })
    expect(fault).toMatch(/^a is 101 bytes.*budget is 100.*src\/large\.ts 90.*"npm run sizes -- --update"/)
  })

  it('needs a budget, and a budget needs an entry', async () => {
    expect(await sizeFaults([{ entry: 'a', size: 1, parts }], { b: 1 })).toEqual([
      'a has no budget: run "npm run sizes -- --update"',
      'there is no entry b: run "npm run sizes -- --update"',
    ])
  })
})

describe('the workflows', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const documented = ['README.md', 'CONTRIBUTING.md'].map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
  const commands = filesBelow(join(root, '.github', 'workflows'), '.yml').flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const kinds = /kind: \[(.*)\]/.exec(text)?.[1]?.split(', ') ?? []
    const found = [...text.matchAll(/run: (npm .*)$/gm)].map(([, command = '']) => command)
    return found.flatMap((command) => {
      const of = '$' + '{{ matrix.kind }}'
      return command.includes(of) ? kinds.map((kind) => command.replace(of, kind)) : [command]
    })
  })

  it.each(commands)('run a command that README.md or CONTRIBUTING.md shows: %s', (command) => {
    expect(documented).toContain(command)
    const script = /^npm run ([\w-]+)/.exec(command)?.[1]
    if (script !== undefined) expect(scripts).toHaveProperty(script)
  })

  it('run the checks, all kinds of tests, and the dry run of a release', () => {
    const tests = ['npm test', 'npm test -- long', 'npm test -- servers', 'npm test -- mutants']
    expect(commands).toEqual(
      expect.arrayContaining(['npm install', 'npm run check', ...tests, 'npm run release -- --dry-run']),
    )
  })

  it('may ask for an identity token only where they publish', () => {
    const text = readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8')
    const [, dryRun = '', publish = ''] = text.split(/^ {2}(?:dry-run|publish):$/m)
    expect(dryRun).not.toContain('id-token')
    expect(publish).toContain('id-token: write')
  })
})
