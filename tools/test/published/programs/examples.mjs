// Runs the first example of each README, as it was compiled in the project that this file is copied into.
// Prints one line of JSON: for each package `true`, or what went wrong.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MemoryLeaseStore } from '@leasehold/core'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-examples-'))
const { REDIS_SERVERS = '', POSTGRES_URL = '' } = process.env
const redisServers = REDIS_SERVERS.split(' ').filter(Boolean)
const isDeno = process.versions.deno !== undefined
/** Nothing listens there. */
const nowhere = '127.0.0.1:9'

const load = async (id, path) => await import(`./build/${id}/${path}.js`)

function check(isRight, what) {
  if (!isRight) throw new Error(what)
}

/** The package loads its client, asks, and reports with an error of ours that there is no server. */
async function rejectsWithoutServer(work) {
  const outcome = await work.then(
    () => 'it resolved',
    (error) => error,
  )
  check(['unavailable', 'timeout'].includes(outcome.code), `without a server: ${outcome.code} ${outcome}`)
}

/** `LocalGuard` needs a native module that would end Deno. */
async function rejectsOnDeno(work) {
  const { code } = await work().then(
    () => ({}),
    (error) => error,
  )
  check(code === 'configuration', `on Deno: ${code}`)
}

/** Runs the program of a package with the runtime that runs this. */
async function runProgram(name, path, args, options = {}) {
  const file = join(import.meta.dirname, 'node_modules', name, path)
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args], { timeout: 60_000, ...options })
  return stdout
}

/** The examples have short time limits, which a busy machine can exceed. What was done then is done once more. */
async function inTime(work, attempts = 5) {
  try {
    await work()
  } catch (error) {
    if (error.code !== 'timeout' || attempts === 1) throw error
    await inTime(work, attempts - 1)
  }
}

const examples = {
  actor: async () => {
    const { actor } = await load('actor', 'readme/orders')
    check(typeof actor.getSnapshot().status === 'string', 'the actor has no state')
    actor.stop()
  },
  'azure-blob': async () => {
    const { ContainerClient } = await import('@azure/storage-blob')
    const { publishOnce } = await load('azure-blob', 'readme/report')
    const client = new ContainerClient(`http://${nowhere}/account/leases`, undefined, { retryOptions: { maxTries: 1 } })
    await rejectsWithoutServer(publishOnce(client, 'text'))
  },
  cli: async () => {
    const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: folder }
    const text = await runProgram('@leasehold/cli', 'dist/main.js', ['run', 'x', '--', 'echo', 'it runs'], { env })
    check(text === 'it runs\n', text)
  },
  codemod: async () => {
    const file = join(folder, 'withdraw.ts')
    writeFileSync(file, readFileSync(new URL('withdraw.ts.txt', import.meta.url)))
    await runProgram('@leasehold/codemod', 'dist/bin.js', ['redlock', file])
    check(
      readFileSync(file, 'utf8').includes('createLease(redlock, account, { heartbeatTimeout: 5000 }).run('),
      'no lease',
    )
  },
  config: async () => {
    const { parseHocon } = await import('@leasehold/config')
    const { readSettings } = await load('config', 'readme')
    const { url, ttl } = readSettings('jobs.ttl = 12s', parseHocon('jobs.url = "redis:"'))
    check(url === 'redis:' && ttl === 12_000, `${url} ${ttl}`)
  },
  consul: async () => {
    const { reportOnce } = await load('consul', 'readme/nightly-report')
    await rejectsWithoutServer(reportOnce([`http://${nowhere}`], async () => 'text'))
  },
  core: async () => {
    const { migrateOnce } = await load('core', 'readme/migration')
    const said = await migrateOnce(new MemoryLeaseStore(), async () => {})
    check(said === 'migrated', said)
  },
  etcd: async () => {
    const { rebuildOnce } = await load('etcd', 'readme/rebuild-index')
    await rejectsWithoutServer(rebuildOnce([`http://${nowhere}`], async () => 'text'))
  },
  nats: async () => {
    const { publishPrices } = await load('nats', 'readme/publish-prices')
    const closed = {
      status: async function* () {},
      isClosed: () => true,
      request: async () => Promise.reject(Error('closed')),
    }
    await rejectsWithoutServer(publishPrices(closed, async () => 'text'))
  },
  fastify: async () => {
    const { buildServer } = await load('fastify', 'readme/server')
    const work = { writeReport: async () => {}, closeAccount: async (id, token) => ({ id, token: typeof token }) }
    const server = await buildServer(new MemoryLeaseStore(), work)
    const { body } = await server.inject({ method: 'POST', url: '/accounts/7/close' })
    await server.close()
    check(body === '{"id":"7","token":"bigint"}', body)
  },
  'heartbeat-thread': async () => {
    const { HeartbeatThread } = await import('@leasehold/heartbeat-thread')
    const { postInThread } = await load('heartbeat-thread', 'readme/heartbeat-thread')
    const thread = new HeartbeatThread()
    let ran = false
    await postInThread(thread, join(folder, 'thread'), async () => {
      ran = true
    })
    await thread.close()
    check(ran, 'the work did not run')
  },
  kubernetes: async () => {
    const { reportOnce } = await load('kubernetes', 'readme/report')
    const cluster = { name: 'x', cluster: { server: `https://${nowhere}` } }
    const context = { name: 'x', context: { cluster: 'x', user: 'x' } }
    const user = { name: 'x', user: {} }
    const config = { 'current-context': 'x', clusters: [cluster], contexts: [context], users: [user] }
    const kubeconfigFile = join(folder, 'kubeconfig')
    writeFileSync(kubeconfigFile, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }))
    await rejectsWithoutServer(reportOnce(async () => 'text', { kubeconfigFile }))
  },
  local: async () => {
    const { importOnce } = await load('local', 'readme/import')
    const file = join(folder, 'imported')
    if (isDeno) return await rejectsOnDeno(() => importOnce(join(folder, 'local'), file))
    await importOnce(join(folder, 'local'), file)
    check(readFileSync(file, 'utf8') === 'imported\n', 'nothing was imported')
  },
  nestjs: async () => {
    await import('reflect-metadata')
    const { NestFactory } = await import('@nestjs/core')
    const { AppModule, Reports } = await load('nestjs', 'readme/guard-cron')
    const application = await NestFactory.createApplicationContext(AppModule, { logger: false })
    check(application.get(Reports).sent === 0, 'it ran too early')
    await application.close()
  },
  'node-cron': async () => {
    const { reportNightly } = await load('node-cron', 'readme/report')
    const task = reportNightly(new MemoryLeaseStore(), async () => {})
    check(typeof task.id === 'string', 'there is no task')
    await task.destroy()
  },
  opentelemetry: async () => {
    const { showLeases } = await load('opentelemetry', 'readme/prometheus')
    showLeases(0).disable?.()
  },
  postgres: async () => {
    const { closeMonth } = await load('postgres', 'readme/close-month')
    let ran = false
    const work = async () => {
      ran = true
    }
    if (POSTGRES_URL === '') return await rejectsWithoutServer(closeMonth(`postgres://x@${nowhere}/x`, work))
    await inTime(() => closeMonth(POSTGRES_URL, work))
    check(ran, 'the work did not run')
  },
  recipes: async () => {
    const { startIndexer } = await load('recipes', 'leader-election/readme/indexer')
    const { promise, resolve } = Promise.withResolvers?.() ?? deferred()
    const election = startIndexer(new MemoryLeaseStore(), async (term) => {
      resolve(typeof term)
      await new Promise((done) => setTimeout(done, 5))
    })
    check((await promise) === 'bigint', 'there is no term')
    await election.stop()
  },
  recorder: async () => {
    const { reportLease } = await load('recorder', 'readme/recorder')
    await reportLease(new MemoryLeaseStore(), join(folder, 'recorder')).run(async () => {})
  },
  redis: async () => {
    const { rebuildOnce } = await load('redis', 'readme/rebuild-index')
    const [url] = redisServers
    if (url === undefined) return await rejectsWithoutServer(rebuildOnce(`redis://${nowhere}`, async () => 'text'))
    await inTime(() => rebuildOnce(url, async () => 'text'))
  },
  'redis-quorum': async () => {
    const { closeBooks } = await load('redis-quorum', 'readme/ledger')
    if (redisServers.length === 0) return
    let token
    const close = async (fencingToken) => {
      token = fencingToken
    }
    await inTime(() => closeBooks(redisServers, close))
    check(typeof token === 'bigint', 'there is no token')
  },
  'self-fence': async () => {
    const { postAlone } = await load('self-fence', 'readme/self-fence')
    let ran = false
    await postAlone(new MemoryLeaseStore(), async () => {
      ran = true
    })
    check(ran, 'the work did not run')
  },
  sharding: async () => {
    const { startCustomers, countVisit } = await load('sharding', 'readme/visits')
    if (isDeno) return await rejectsOnDeno(() => startCustomers(join(folder, 'sharding')))
    const customers = await startCustomers(join(folder, 'sharding'))
    const visits = [await countVisit(customers, 'ann'), await countVisit(customers, 'ann')]
    await customers.stop()
    check(String(visits) === '1,2', visits)
  },
  testkit: async () => {
    const { loseInVirtualTime } = await load('testkit', 'readme')
    const losses = await loseInVirtualTime()
    check(String(losses) === 'expired', losses)
  },
  ui: async () => {
    const { showLeases } = await load('ui', 'readme/first-page')
    const server = showLeases(new MemoryLeaseStore(), 'a token of the examples'.replaceAll(' ', '-'), 0)
    await new Promise((resolve) => server.once('listening', resolve))
    const address = `http://127.0.0.1:${server.address().port}/`
    const [page, lease] = await Promise.all([fetch(address), fetch(`${address}api/lease?name=a`)])
    check(page.status === 200 && lease.status === 401, `the page has ${page.status}, a lease ${lease.status}`)
    server.close()
    server.closeAllConnections()
  },
}

function deferred() {
  let resolve
  const promise = new Promise((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** The names of packages as arguments: those whose examples run. */
const asked = process.argv.slice(2)
const results = {}
const runs = Object.entries(examples).filter(([id]) => asked.length === 0 || asked.includes(id))
await Promise.all(
  runs.map(async ([id, example]) => {
    try {
      const timer = new Promise((_, reject) => setTimeout(reject, 60_000, new Error('not within 60 s')).unref?.())
      await Promise.race([example(), timer])
      results[id] = true
    } catch (error) {
      results[id] = String(error?.stack ?? error)
    }
  }),
)
/** Every entry can be required, too. Those for test runners only run in them. */
const require = createRequire(import.meta.url)
for (const entry of (process.env.ENTRIES ?? '').split(' ').filter(Boolean)) {
  try {
    check(Object.keys(require(entry)).length > 0, 'it is empty')
  } catch (error) {
    results[entry] = String(error?.stack ?? error)
  }
}
rmSync(folder, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify(results)}\n`, () => process.exit())
