import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { importedPackages } from '../../conventions/imports.js'
import { filesBelow, packages, readManifest, root } from '../../workspaces.js'

/** Files that are in the folder of a package for its development only. A template of a project has tests of its own. */
const forDevelopment = /^(?!templates\/)(?:.*\/)?(\.|test\/|bench\/|tsconfig|.*\.api\.md$|.*\.tsbuildinfo$)/

/** The paths of the files that each package is packed with, by its name. One npm packs them all: each start of it takes a second. */
function packedFiles(): ReadonlyMap<string, readonly string[]> {
  const folders = packages().map(({ folder }) => folder)
  // As after a build, which leaves it there.
  const missing = folders.map((folder) => join(folder, 'dist', '.tsbuildinfo')).filter((info) => !existsSync(info))
  for (const info of missing) writeFileSync(info, '')
  try {
    const packed: readonly Packed[] = JSON.parse(
      npm(['pack', '--dry-run', '--json', '--ignore-scripts', ...folders], root),
    )
    return new Map(packed.map(({ name, files }) => [name, files.map(({ path }) => path)]))
  } finally {
    for (const info of missing) rmSync(info)
  }
}

interface Packed {
  readonly name: string
  readonly files: readonly { readonly path: string }[]
}

function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 26 })
}

describe('the packages, as they are packed', () => {
  let packed: ReadonlyMap<string, readonly string[]> = new Map()
  beforeAll(() => {
    packed = packedFiles()
  })

  it.each(packages())('$id has no files of its development', ({ manifest }) => {
    const files = packed.get(manifest.name) ?? []
    expect(files).toContain('package.json')
    expect(files.some((path) => path.startsWith('dist/'))).toBe(true)
    expect(files.filter((path) => forDevelopment.test(path))).toEqual([])
  })

  it.each(packages())(
    '$id depends on exactly the packages that its code loads, and peers that users pass in',
    ({ folder, manifest }) => {
      const files = filesBelow(join(folder, 'dist'), '.js')
      const loaded = new Set(files.flatMap(importedPackages))
      const code = files.map((file) => readFileSync(file, 'utf8')).join('\n')
      const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifest
      const declared = Object.keys({ ...dependencies, ...peerDependencies })
      expect([...loaded].filter((name) => !declared.includes(name))).toEqual([])
      const optional = Object.keys(peerDependenciesMeta)
      // A native package is loaded by require.
      expect(declared.filter((name) => !code.includes(`"${name}`) && !optional.includes(name))).toEqual([])
    },
  )
})

/** A program in plain JavaScript. */
const PROGRAM = `
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

const store = new LocalLeaseStore({ folder: 'leases' })
try {
  console.log(await createLease(store, 'x').run(async ({ fencingToken }) => typeof fencingToken))
} finally {
  await store.close()
}
`

describe('npm run pack', () => {
  /** Packs the packages that others of the lock file would be brought for, so that npm need not ask a registry. */
  function packedDependencies(names: readonly string[], folder: string): readonly string[] {
    const found = new Set<string>()
    const find = (name: string): void => {
      if (found.has(name)) return
      found.add(name)
      for (const other of Object.keys(readManifest(join(root, 'node_modules', name)).dependencies ?? {})) find(other)
    }
    names.forEach(find)
    const folders = [...found].map((name) => join(root, 'node_modules', name))
    const packed = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...folders], folder)
    return JSON.parse(packed).map(({ filename }: { filename: string }) => join(folder, filename))
  }

  /** Without a build: the packages were built before the tests. */
  function pack(args: readonly string[], cwd: string, env = {}) {
    const command = [join(root, 'node_modules', '.bin', 'tsx'), join(root, 'tools', 'pack.ts'), ...args]
    const options = {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, INIT_CWD: cwd, npm_config_offline: 'true', ...env },
    } as const
    return spawnSync(process.execPath, command, options)
  }

  it('installs packages into a project in plain JavaScript, also once more after a change', () => {
    const folder = temporaryFolder()
    const application = join(folder, 'my-app')
    mkdirSync(application)
    writeFileSync(join(application, 'package.json'), '{ "name": "my-app", "type": "module" }')
    writeFileSync(join(application, 'main.js'), PROGRAM)
    const others = packedDependencies(['fs-native-extensions'], folder)
    for (const round of ['first', 'second']) {
      writeFileSync(join(root, 'packages', 'core', 'dist', 'round.txt'), round)
      const { status, stderr } = pack(['../my-app', '@leasehold/local', ...others], application)
      rmSync(join(root, 'packages', 'core', 'dist', 'round.txt'))
      expect(status, stderr).toBe(0)
      expect(readFileSync(join(application, 'node_modules/@leasehold/core/dist/round.txt'), 'utf8')).toBe(round)
      expect(execFileSync(process.execPath, ['main.js'], { cwd: application, encoding: 'utf8' })).toBe('bigint\n')
    }
    expect(Object.keys(readManifest(application).dependencies ?? {})).toEqual(
      expect.arrayContaining(['@leasehold/core', '@leasehold/local']),
    )
  })

  it('keeps the packages of an earlier time, and where package.json has them', () => {
    const folder = temporaryFolder()
    const application = join(folder, 'my-app')
    mkdirSync(application)
    writeFileSync(join(application, 'package.json'), '{ "name": "my-app", "type": "module" }')
    writeFileSync(join(application, 'main.js'), PROGRAM)
    const others = packedDependencies(['fs-native-extensions'], folder)
    for (const args of [
      ['@leasehold/local', ...others],
      ['--save-dev', '@leasehold/testkit'],
    ]) {
      const { status, stderr } = pack(['../my-app', ...args], application)
      expect(status, stderr).toBe(0)
    }
    const { dependencies = {}, devDependencies = {} } = readManifest(application)
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['@leasehold/core', '@leasehold/local']))
    expect(Object.keys(devDependencies)).toEqual(['@leasehold/testkit'])
    // npm has a cache of them here. Another machine, such as a CI, needs the files.
    const files = Object.values({ ...dependencies, ...devDependencies }).map((spec) => spec.replace('file:', ''))
    expect(files.filter((file) => !existsSync(join(application, file)))).toEqual([])
    expect(execFileSync(process.execPath, ['main.js'], { cwd: application, encoding: 'utf8' })).toBe('bigint\n')
  })

  it('installs the program globally, with its man page', () => {
    const folder = temporaryFolder()
    const prefix = join(folder, 'prefix')
    const others = packedDependencies(['fs-native-extensions', 'croner'], folder)
    const { status, stderr } = pack(['--global', '@leasehold/cli', ...others], folder, { npm_config_prefix: prefix })
    expect(status, stderr).toBe(0)
    const [program, page] = [join(prefix, 'bin', 'leasehold'), join(prefix, 'share', 'man', 'man1', 'leasehold.1')]
    const run = ['run', 'x', '--', 'echo', 'it runs']
    const env = { PATH: process.env.PATH, XDG_STATE_HOME: folder }
    expect(execFileSync(program, run, { cwd: folder, encoding: 'utf8', env })).toBe('it runs\n')
    expect(readFileSync(page, 'utf8')).toMatch(/^\.TH LEASEHOLD 1/)
  })

  it('explains itself, and installs nothing where there is no package.json', () => {
    const folder = temporaryFolder()
    expect(pack([], folder)).toMatchObject({ status: 64, stderr: expect.stringMatching(/^usage: npm run pack/) })
    expect(pack(['.'], folder)).toMatchObject({ status: 64, stderr: expect.stringContaining('npm init -y') })
  })
})
