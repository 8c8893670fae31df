import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundledDependencies } from '../bundled-dependencies.js'
import { importedPackages } from '../conventions/imports.js'
import { forbiddenImports } from '../conventions/layers.js'
import { agentsText } from '../docs/agents-text.js'
import { relativeLinks } from '../docs/links.js'
import { filesBelow, nameOfPackage, packages, readManifest, repositoryUrl, root } from '../workspaces.js'

const repository = readManifest(root)

describe.each(packages())('package $id', ({ id, folder, manifest }) => {
  const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
  // The bundle has the built files in place of this module: see tools/built-pages.ts.
  const sources = filesBelow(join(folder, 'src'), '.ts').filter((path) => !path.endsWith('/page/build-page.ts'))
  const imported = new Set(sources.flatMap(importedPackages))

  it('has the name of its folder, and the common version, engines and licence', () => {
    expect(manifest.name).toBe(nameOfPackage(id))
    expect(manifest.version).toBe(repository.version)
    expect(manifest.engines).toEqual(repository.engines)
    expect(manifest.license).toBe('MIT')
    expect(manifest.type).toBe('module')
  })

  it('names its repository, its home page and where to report bugs', () => {
    const directory = `packages/${id}`
    expect(manifest.repository).toEqual({ type: 'git', url: `git+${repositoryUrl}.git`, directory })
    expect(manifest.homepage).toBe(`${repositoryUrl}/tree/main/${directory}#readme`)
    expect(manifest.bugs).toBe(`${repositoryUrl}/issues`)
  })

  it('can be found by what people search for', () => {
    const { keywords = [] } = manifest
    expect(new Set(keywords).size).toBe(keywords.length)
    // One form for each term, so that a keyword finds all packages that have it.
    for (const keyword of keywords) expect(keyword).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(keywords.length).toBeGreaterThanOrEqual(7)
    // Those who look for a lock seldom know the word lease. HOCON has readers of its own.
    if (id !== 'config') {
      expect(keywords).toContain('lease')
      expect(keywords.some((keyword) => keyword === 'distributed-lock' || keyword === 'lock')).toBe(true)
    }
  })

  it('is packed with its CHANGELOG, and published for everybody', () => {
    expect(manifest.files).toContain('CHANGELOG.md')
    expect(manifest.publishConfig).toEqual({ access: 'public' })
  })

  it('has a README whose links work on a package page', () => {
    expect(relativeLinks(readFileSync(join(folder, 'README.md'), 'utf8'))).toEqual([])
  })

  it('has the same text for coding agents as the others, if it is packed with one, and links that work there', () => {
    const skill = join(folder, 'SKILL.md')
    expect(existsSync(skill)).toBe(manifest.files?.includes('SKILL.md') === true)
    if (!existsSync(skill)) return
    expect(readFileSync(skill, 'utf8'), 'run "npm run docs:update"').toBe(readFileSync(agentsText, 'utf8'))
    expect(relativeLinks(readFileSync(skill, 'utf8'))).toEqual([])
  })

  it('has the licence', () => {
    expect(readFileSync(join(folder, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
  })

  it('has a committed report of its API, if it has one', () => {
    expect(existsSync(join(folder, `${id}.api.md`))).toBe(manifest.exports?.['.'] !== undefined)
  })

  it('declares exactly the dependencies that it imports, but those in its bundle, and optional peers that users pass in', () => {
    const passedIn = Object.keys(manifest.peerDependenciesMeta ?? {})
    const installed = [...imported].filter((name) => !bundledDependencies.includes(name))
    expect([...declared].filter((name) => imported.has(name) || !passedIn.includes(name)).sort()).toEqual(
      installed.sort(),
    )
  })

  it('imports only packages of the layers below', () => {
    expect(forbiddenImports(id, new Set([...declared, ...imported]))).toEqual([])
  })

  it('has the other packages as peers, so that a service has one copy of core; a program installs them', () => {
    const own = (ranges: Readonly<Record<string, string>> = {}) =>
      Object.entries(ranges).filter(([name]) => name.startsWith('@leasehold/'))
    const isProgram = manifest.bin !== undefined
    expect(own(isProgram ? manifest.peerDependencies : manifest.dependencies)).toEqual([])
    for (const [name, range] of own({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      expect(range, name).toBe(`^${repository.version}`)
    }
  })

  it('is part of the build', () => {
    const { references } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
    expect(references).toContainEqual({ path: `packages/${id}` })
  })
})

it.each([
  ['cron', ['recipes', 'nestjs', 'node-cron', 'redis', 'postgres', 'cli']],
  ['multiple-instances', ['core', 'recipes', 'nestjs', 'fastify', 'node-cron']],
  ['leader-election', ['core', 'recipes', 'redis', 'postgres', 'etcd', 'consul', 'kubernetes', 'azure-blob', 'nestjs']],
  ['fencing-token', ['core', 'redis', 'postgres', 'etcd']],
  ['redlock', ['redis', 'redis-quorum', 'codemod']],
])('the keyword %s leads to %j', (keyword, ids) => {
  const found = packages().filter(({ manifest }) => manifest.keywords?.includes(keyword) === true)
  expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
})

it('the packages that every service installs tell coding agents how to use leases', () => {
  const ids = packages()
    .filter(({ manifest }) => manifest.files?.includes('SKILL.md'))
    .map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(['core', 'recipes']))
  const [, front = '', text = ''] =
    /^---\n(name: [a-z-]+\ndescription: .{1,1024}\n)---\n([\s\S]+)$/.exec(readFileSync(agentsText, 'utf8')) ?? []
  expect(front).toContain('name: leasehold\n')
  for (const word of ['`signal`', '`fencingToken`', '`SET NX PX`', 'Readiness by leadership'])
    expect(text).toContain(word)
})

describe('the layers', () => {
  it.each([
    ['core', ['@leasehold/testkit'], ['@leasehold/testkit']],
    ['config', ['@leasehold/core'], ['@leasehold/core']],
    ['actor', ['@leasehold/core', 'xstate', '@leasehold/local'], ['@leasehold/local']],
    ['redis', ['@leasehold/core', 'ioredis', '@leasehold/config'], ['@leasehold/config']],
    ['cli', ['@leasehold/core', '@leasehold/redis', '@leasehold/config'], []],
  ])('%s imports %j: %j are forbidden', (id, imports, forbidden) => {
    expect(forbiddenImports(id, imports)).toEqual(forbidden)
  })
})
