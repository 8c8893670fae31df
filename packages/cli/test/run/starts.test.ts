import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { type LeaseRecord, listLeases } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { eventually, type Finishing } from '@leasehold/testing'
import { describe, it } from 'vitest'
import { leaseFolder, leasehold, type Started, start, written } from '../support/leasehold-program.js'
import { watchdogOf } from '../support/watchdog-of.js'

/** A user for whom a limit of processes holds: it does not hold for root. */
const NOBODY = 65_534
const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** The environment of a `leasehold` that loads the module of `test/support` before its own code. */
function loading(name: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import ${new URL(`../support/${name}.mjs`, import.meta.url).href}` }
}

/** Every way to run a command under a lease that waits for no time of the day. */
const ways = ['', '--try', '--once key', '--permits 2', '--restart']

const every = ['--every', '* * * * * *']

describe.skipIf(process.platform !== 'linux')(
  'leasehold run that cannot start its watchdog',
  { concurrent: true },
  () => {
    it.for(ways)('exits with 71, says why, and leaves the name free: run x %s', async (options, test) => {
      const folder = folderForAll(test)
      const args = ['run', 'x', ...wordsOf(options), '--', 'echo', 'started']
      const ended = await leasehold(args, { folder, env: loading('process-limit'), ...user })
      test.expect(ended).toMatchObject({ code: 71, signal: null, output: '' })
      test
        .expect(ended.errors)
        .toMatch(/^leasehold: the watchdog .* cannot be started \(.*EAGAIN\),[^\n]*ulimit -u.*\n$/)
      test.expect(await heldIn(folder)).toEqual([])
    })

    it('does so after a wait too, if the watchdog was killed during the wait', async (test) => {
      const folder = folderForAll(test)
      const stdio = ['pipe', 'pipe', 'pipe'] as const
      const holder = start(['run', 'x', '--', 'sh', '-c', 'echo held; read -r line'], {
        folder,
        stdio: [...stdio],
        ...user,
      })
      test.onTestFinished(() => void holder.child.kill('SIGKILL'))
      await written(holder, /held/)
      const waiter = start(['run', 'x', '--', 'echo', 'started'], { folder, ...user })
      test.onTestFinished(() => void waiter.child.kill('SIGKILL'))
      await eventually('its place in the queue', async () => (await heldIn(folder))[0]?.waiters === 1)
      limitProcesses(waiter, 1)
      process.kill(watchdogOf(waiter.pid), 'SIGKILL')
      holder.child.stdin?.end('\n')
      test.expect(await waiter.ended).toMatchObject({ code: 71, output: '' })
      test.expect(await heldIn(folder)).toEqual([])
    })

    it('fails a tick of --every, says why, and runs the next one if it can', async (test) => {
      const folder = folderForAll(test)
      const args = ['run', 'x', ...every, '--', 'echo', 'started']
      const started = start(args, { folder, env: loading('process-limit'), ...user })
      test.onTestFinished(() => void started.child.kill('SIGKILL'))
      await eventually('a tick that failed', async () => /the work of the tick .*EAGAIN/.test(started.errors()))
      limitProcesses(started, 4_096)
      await written(started, /started/)
      started.child.kill('SIGTERM')
      test.expect(await started.ended).toMatchObject({ signal: 'SIGTERM' })
    })
  },
)

describe.skipIf(process.platform !== 'linux')(
  'a signal between the grant and the start of the command',
  { concurrent: true },
  () => {
    it.for([
      ...ways.map((options) => ['SIGTERM', options] as const),
      ...(['SIGINT', 'SIGHUP', 'SIGQUIT'] as const).map((signal) => [signal, ''] as const),
    ])('%s ends leasehold by it, and the command is not started: run x %s', async ([signal, options], test) => {
      const { folder, started } = await grantedBeforeStart(test, ...wordsOf(options))
      started.child.kill(signal)
      test.expect(await started.ended).toEqual({ code: null, signal, output: '', errors: '' })
      test.expect(await heldIn(folder)).toEqual([])
    })

    it.for(ways)('frees the name, if it comes before the answer of the store: run x %s', async (options, test) => {
      const folder = leaseFolder(test)
      const module = new URL('../stores/late-answers.mjs', import.meta.url).pathname
      const config = `${folder}/late.conf`
      writeFileSync(config, `leasehold.lease.lease-class = ${JSON.stringify(`${module}#lateLease`)}`)
      const started = start(['run', 'x', '--quiet', '--config', config, ...wordsOf(options), '--', 'echo', 'started'], {
        folder,
      })
      await eventually('the grant', async () => (await heldIn(folder)).length > 0)
      started.child.kill('SIGTERM')
      test.expect(await started.ended).toEqual({ code: null, signal: 'SIGTERM', output: '', errors: '' })
      test.expect(await heldIn(folder)).toEqual([])
    })

    it('ends a tick of --every as interrupted', async (test) => {
      const { folder, started } = await grantedBeforeStart(test, ...every)
      started.child.kill('SIGTERM')
      test.expect(await started.ended).toEqual({ code: null, signal: 'SIGTERM', output: '', errors: '' })
      const [record] = await recordsIn(folder)
      test.expect(JSON.parse(record?.metadata?.run ?? '{}')).toMatchObject({ outcome: 'interrupted' })
    })
  },
)

function wordsOf(options: string): readonly string[] {
  return options.split(' ').filter(Boolean)
}

/** A folder of leases for all users. */
function folderForAll(test: Finishing): string {
  const folder = leaseFolder(test)
  chmodSync(folder, 0o777)
  return folder
}

/** As the same user: root may not do it in every container. */
function limitProcesses({ pid }: Started, limit: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nproc=${limit}:`], user)
}

/** A `leasehold` that knows of its grant, and waits for its watchdog, which was stopped before. */
async function grantedBeforeStart(test: Finishing, ...options: readonly string[]) {
  const folder = leaseFolder(test)
  const args = ['run', 'x', '--quiet', '--ttl', '6s', ...options, '--', 'echo', 'started']
  const started = start(args, { folder, env: loading('stopped-watchdog') })
  test.onTestFinished(() => void started.child.kill('SIGKILL'))
  // It sends heartbeats only for a grant that it knows of.
  await eventually('a heartbeat', async () => {
    const records = await heldIn(folder)
    // With permits, the name itself is held only while a permit is acquired.
    return records.some(({ renewals = 0, metadata }) => renewals > 0 && metadata?.permits === undefined)
  })
  return { folder, started }
}

async function heldIn(folder: string): Promise<readonly LeaseRecord[]> {
  return (await recordsIn(folder)).filter(({ state }) => state === 'leased')
}

async function recordsIn(folder: string): Promise<readonly LeaseRecord[]> {
  const store = new LocalLeaseStore({ folder: `${folder}/leasehold/leases` })
  const records: LeaseRecord[] = []
  for await (const record of listLeases(store, '')) records.push(record)
  await store.close()
  return records
}
