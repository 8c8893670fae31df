import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describeUnless } from '@leasehold/testing/describe-unless'
import { whyNoPostgres } from '@leasehold/testing/postgres-binary'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { redisProgram } from '@leasehold/testing/redis-program'
import { RedisServer } from '@leasehold/testing/redis-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packages } from '../../workspaces.js'
import { DeclarationChecker } from './support/declarations.js'
import { fillProject, installProject, isolate, publicEntries } from './support/installed-project.js'
import { bun, deno, nodes, type Runtime } from './support/runtimes.js'

const run = promisify(execFile)

/** For what all tests share: tens of thousands of files are written and removed. */
const FOR_ALL = 300_000

/** npm asks the registry for the packages of others, unless it has asked before. */
async function whyNot(): Promise<string | undefined> {
  const unbuilt = packages().filter(({ folder }) => !existsSync(join(folder, 'dist')))
  if (unbuilt.length > 0) return `${unbuilt.map(({ id }) => id).join(', ')} are not built: npm run build`
  const asked = run('npm', ['view', 'xstate', 'name', '--fetch-retries=0', '--fetch-timeout=10000'], {
    timeout: 20_000,
  })
  return await asked.then(
    () => undefined,
    () => 'npm reaches no registry, which has the packages that ours need: try again with a network',
  )
}

/** Entries that have types only, or that only work in a test runner. */
const notRequired = ['@leasehold/core/channels', '@leasehold/testkit/vitest', '@leasehold/testkit/node-test']

describeUnless(await whyNot(), 'the packages, installed from their tarballs into an empty project', () => {
  // Where the compiler and Node say that a file is.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'leasehold-projects-')))
  const project = join(folder, 'project')
  let compiled: Promise<string>
  let bundled: Promise<string>
  let runtimes: Promise<readonly (Runtime | string)[]>
  const servers: { stop(): Promise<void> }[] = []
  const env: Record<string, string> = {}

  beforeAll(async () => {
    runtimes = Promise.all([nodes(folder), deno(folder), bun(folder)]).then((found) => found.flat())
    await Promise.all([startServers(), installProject(project)])
    fillProject(project)
    compiled = tsc('tsconfig.json')
    bundled = tsc('tsconfig.bundler.json')
  }, FOR_ALL)

  afterAll(async () => {
    await Promise.allSettled([compiled, bundled, runtimes, ...servers.map((server) => server.stop())])
    await rm(folder, { recursive: true, force: true })
  }, FOR_ALL)

  async function startServers(): Promise<void> {
    if (redisProgram.whyNot === undefined) {
      const started = await Promise.all([1, 2, 3].map(() => RedisServer.start()))
      servers.push(...started)
      env.REDIS_SERVERS = started.map(({ url }) => url).join(' ')
    }
    if (whyNoPostgres === undefined) {
      const started = await PostgresServer.start()
      servers.push(started)
      env.POSTGRES_URL = started.url
    }
  }

  /** What the compiler says: nothing, if all is right. */
  async function tsc(settings: string): Promise<string> {
    const program = join(project, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout } = await run(process.execPath, [program, '-p', settings], { cwd: project, timeout: 110_000 }).catch(
      (error) => error,
    )
    return stdout
  }

  /** What went wrong in a runtime: by the package whose example it was, or by the entry that could not be required. */
  async function failuresOn({ name, program, args }: Runtime): Promise<Readonly<Record<string, string>>> {
    const entries = packages().flatMap(publicEntries)
    const ENTRIES = name.startsWith('Node') ? entries.filter((entry) => !notRequired.includes(entry)).join(' ') : ''
    const options = {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: folder, ...env, ENTRIES },
      timeout: 90_000,
      maxBuffer: 2 ** 24,
    }
    const { stdout, stderr } = await run(program, [...args, 'examples.mjs'], options).catch((error) => error)
    const line = String(stdout).trimEnd().split('\n').at(-1) ?? ''
    if (!line.startsWith('{')) return { [name]: `${stdout}${stderr}` }
    const results = Object.entries(JSON.parse(line) as Record<string, string | true>)
    return Object.fromEntries(results.flatMap(([id, result]) => (result === true ? [] : [[id, result]])))
  }

  it('have declarations that TypeScript takes with `nodenext`, also from CommonJS, and the examples of the READMEs compile', async () => {
    expect(await compiled).toBe('')
  })

  it('have declarations that TypeScript takes with `bundler`', async () => {
    expect(await bundled).toBe('')
  })

  it('run the examples of their READMEs, and can be required, on each Node', async () => {
    await compiled
    const found = (await runtimes).filter((runtime) => typeof runtime !== 'string')
    const asked = found.filter(({ name }) => name.startsWith('Node'))
    const missing = (await runtimes).filter((runtime) => typeof runtime === 'string' && runtime.startsWith('Node'))
    expect(missing).toEqual([])
    for (const runtime of asked) expect(await failuresOn(runtime), runtime.name).toEqual({})
  })

  it.for(['Deno', 'Bun'])('run the examples of their READMEs on %s', async (name, { skip }) => {
    await compiled
    const runtime = (await runtimes).find((found) => (typeof found === 'string' ? found : found.name).startsWith(name))
    if (runtime === undefined || typeof runtime === 'string') return skip(runtime)
    expect(await failuresOn(runtime)).toEqual({})
  })

  it('have declarations that need no optional peer and nothing else that is not declared', () => {
    const parent = join(folder, 'alone')
    const checker = new DeclarationChecker(parent)
    const faults = packages().flatMap((workspace) => {
      const { name } = workspace.manifest
      const alone = join(parent, workspace.id)
      isolate(workspace, project, alone)
      // The other entries are made for peers that are optional.
      return publicEntries(workspace).includes(name) ? [checker.faults(alone, [name])] : []
    })
    expect(faults.join('')).toBe('')
  })
})
