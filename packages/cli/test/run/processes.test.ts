import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { breakLease, type LeaseRecord, readLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { eventually, type Finishing } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { Family, startStubborn } from '../support/family.js'
import { leaseFolder, leasehold, start, written } from '../support/leasehold-program.js'
import { watchdogOf } from '../support/watchdog-of.js'

/** Validity ends well after the start of a slow machine, and soon enough for a test. */
const TIMES = ['--ttl', '8s', '--kill-after', '500ms']

/** Ways to run a command under a lease of another name, or under one of its leases, and the name of that lease. */
const ways: readonly (readonly string[])[] = [
  ['--permits 1', 'x/0'],
  ['--once key', 'x/key'],
]

/** `leasehold` with a stubborn family that is ready. */
async function hold(test: Finishing) {
  const folder = leaseFolder(test)
  const family = new Family(test)
  const holder = await startStubborn(['run', 'x', ...TIMES], family, { folder, test })
  const challenge = () => leasehold(['run', 'x', '--', ...family.look], { folder })
  return { folder, family, holder, challenge }
}

describe.skipIf(process.platform !== 'linux')(
  'nothing of a command is alive when another can start',
  { concurrent: true },
  () => {
    it('after SIGKILL of leasehold: the watchdog ends all', async (test) => {
      const { family, holder, challenge } = await hold(test)
      const other = challenge()
      holder.child.kill('SIGKILL')
      test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
      test.expect(family.alive()).toEqual([])
    })

    it('after SIGSTOP of leasehold beyond the ttl: the watchdog ends all, and leasehold reports the loss', async (test) => {
      const { family, holder, challenge } = await hold(test)
      const other = challenge()
      holder.child.kill('SIGSTOP')
      test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
      test.expect(family.alive()).toEqual([])
      holder.child.kill('SIGCONT')
      test.expect(await holder.ended).toMatchObject({ code: 79 })
    })

    it('after SIGKILL of the watchdog and of leasehold after it: another watchdog was started', async (test) => {
      const { family, holder, challenge } = await hold(test)
      const first = watchdogOf(holder.pid)
      process.kill(first, 'SIGKILL')
      await eventually('another watchdog', async () => watchdogOf(holder.pid) !== first)
      const second = watchdogOf(holder.pid)
      await eventually('the watchdog handles signals, so it runs', async () => handlesSignals(second))
      const other = challenge()
      holder.child.kill('SIGKILL')
      test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
      test.expect(family.alive()).toEqual([])
    })

    it('after the signals with which a service manager ends a service, and SIGKILL: the watchdog outlives them', async (test) => {
      const { family, holder, challenge } = await hold(test)
      const watchdog = watchdogOf(holder.pid)
      const other = challenge()
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.kill(watchdog, signal)
      holder.child.kill('SIGKILL')
      test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
      test.expect(family.alive()).toEqual([])
    })

    it('after a stop of the watchdog: leasehold ends all by itself', async (test) => {
      const { folder, family, holder, challenge } = await hold(test)
      const watchdog = watchdogOf(holder.pid)
      process.kill(watchdog, 'SIGSTOP')
      test.onTestFinished(() => void holder.child.kill('SIGKILL'))
      const other = challenge()
      await breakIn(folder, 3_000)
      test.expect(await holder.ended).toMatchObject({ code: 79 })
      test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
      test.expect(family.alive()).toEqual([])
    })

    it('after a break with a period: SIGTERM, and SIGKILL before the period ends', async (test) => {
      const { folder, family, holder, challenge } = await hold(test)
      const other = challenge()
      await breakIn(folder, 2_000)
      const ended = await holder.ended
      test.expect(ended).toMatchObject({ code: 79 })
      test.expect(ended.errors).toContain("the lease 'x' was lost (broken): the command was ended")
      test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
      test.expect(family.alive()).toEqual([])
    })

    it.for(ways)('after the loss of its lease: run x %s', async ([options = '', name], test) => {
      const folder = leaseFolder(test)
      const args = ['run', 'x', ...options.split(' ')]
      for (const how of ['break', 'SIGSTOP'] as const) {
        const family = new Family(test)
        const holder = await startStubborn([...args, ...TIMES], family, { folder, test })
        const other = leasehold([...args, '--', ...family.look], { folder })
        if (how === 'break') await breakIn(folder, 2_000, name)
        else holder.child.kill('SIGSTOP')
        test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
        test.expect(family.alive()).toEqual([])
        holder.child.kill('SIGCONT')
        test.expect(await holder.ended).toMatchObject({ code: 79 })
        // With a key, the second command would have been done.
        if (options.startsWith('--once')) return
      }
    })

    it('after a break, though its first process ends at SIGTERM, and the others have an empty environment', async (test) => {
      const folder = leaseFolder(test)
      const family = new Family(test)
      const holder = start(['run', 'x', ...TIMES, '--', ...family.nameless], { folder })
      test.onTestFinished(() => void holder.child.kill('SIGKILL'))
      await written(holder, /ready/)
      await eventually('all three shells', async () => family.alive().length >= 3)
      const other = leasehold(['run', 'x', '--', ...family.look], { folder })
      await breakIn(folder, 3_000)
      test.expect(await holder.ended).toMatchObject({ code: 79 })
      test.expect(family.alive()).toEqual([])
      test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
    })

    it('after its end, though it has left processes behind, one of them in another session', async (test) => {
      const folder = leaseFolder(test)
      const family = new Family(test)
      const ended = await leasehold(['run', 'x', ...TIMES, '--', ...family.leaving(5)], { folder })
      test.expect(ended).toMatchObject({ code: 5 })
      test.expect(ended.errors).toMatch(/the command has left \d processes running: ending them/)
      test.expect(family.alive()).toEqual([])
    })
  },
)

describe.skipIf(process.platform !== 'linux')('a command that ends at SIGTERM', { concurrent: true }, () => {
  it.for([['--restart', 'x'], ...ways])('has the time of --kill-after after a break: run x %s', async (way, test) => {
    const [options = '', name] = way
    const folder = leaseFolder(test)
    const family = new Family(test)
    const args = ['run', 'x', ...options.split(' '), '--ttl', '10s', '--kill-after', '3s', '--', ...family.obedient]
    const holder = start(args, { folder })
    test.onTestFinished(() => void holder.child.kill('SIGKILL'))
    await written(holder, /ready/)
    await breakIn(folder, 9_000, name)
    await written(holder, /terminated/)
  })

  it('has it, and leasehold reports the loss', async (test) => {
    const folder = leaseFolder(test)
    const family = new Family(test)
    const holder = start(['run', 'x', '--ttl', '10s', '--kill-after', '3s', '--', ...family.obedient], { folder })
    await written(holder, /ready/)
    await breakIn(folder, 9_000)
    test.expect(await holder.ended).toMatchObject({ code: 79, output: 'ready\nterminated\n' })
  })

  it('has it when leasehold is killed', async (test) => {
    const folder = leaseFolder(test)
    const family = new Family(test)
    const holder = start(['run', 'x', '--ttl', '20s', '--kill-after', '5s', '--', ...family.obedient], { folder })
    await written(holder, /ready/)
    holder.child.kill('SIGKILL')
    // The output stays open until the command has ended.
    const ended = await holder.ended
    test.expect(ended.output).toBe('ready\nterminated\n')
    test.expect(ended.errors).toContain('leasehold has ended: its watchdog ends the command')
    await family.gone()
  })
})

describe.skipIf(process.platform !== 'linux')('a command and the watchdog', { concurrent: true }, () => {
  it('starts only when the watchdog watches', async (test) => {
    const { waiter, watchdog } = await grantedWithoutWatchdog(test, '30s')
    await sleep(1_000)
    test.expect(waiter.output()).toBe('')
    process.kill(watchdog, 'SIGCONT')
    test.expect(await waiter.ended).toMatchObject({ code: 0, output: 'started\n' })
  })

  it('does not start after the validity', async (test) => {
    const { folder, waiter, watchdog } = await grantedWithoutWatchdog(test, '4s')
    // It knows of its grant. A process that is stopped before would drop this grant, and start the command under its next one.
    await eventually('a heartbeat', async () => ((await recordOf(folder))?.renewals ?? 0) > 0)
    waiter.child.kill('SIGSTOP')
    await sleep(5_000)
    process.kill(watchdog, 'SIGCONT')
    waiter.child.kill('SIGCONT')
    test.expect(await waiter.ended).toMatchObject({ code: 79, output: '' })
  })

  it('goes on for longer than the ttl, while heartbeats are confirmed', async (test) => {
    const folder = leaseFolder(test)
    const command = ['sh', '-c', 'sleep 9; exit 3']
    const ended = await leasehold(['run', 'x', '--quiet', '--ttl', '6s', '--', ...command], { folder })
    test.expect(ended).toMatchObject({ code: 3, errors: '' })
  })
})

describe('a command without a terminal', () => {
  it('has a process group and a session of its own', async (test) => {
    const folder = leaseFolder(test)
    const { output } = await leasehold(['run', 'x', '--', 'sh', '-c', 'ps -o pid=,pgid=,sid= -p $$'], { folder })
    const [pid, group, session] = output.trim().split(/ +/)
    expect(group).toBe(pid)
    expect(session).toBe(pid)
  })
})

async function breakIn(folder: string, period: number, name = 'x'): Promise<void> {
  const store = new LocalLeaseStore({ folder: `${folder}/leasehold/leases` })
  await breakLease(store, name, { period })
  await store.close()
}

/** A second `leasehold` that has got the lease, and whose watchdog was stopped before. */
async function grantedWithoutWatchdog(test: Finishing, ttl: string) {
  const folder = leaseFolder(test)
  const stdio = ['pipe', 'pipe', 'pipe'] as const
  const holder = start(['run', 'x', '--', 'sh', '-c', 'echo held; read -r line'], { folder, stdio: [...stdio] })
  test.onTestFinished(() => void holder.child.kill('SIGKILL'))
  await written(holder, /held/)
  const waiter = start(['run', 'x', '--owner', 'second', '--ttl', ttl, '--', 'echo', 'started'], { folder })
  test.onTestFinished(() => void waiter.child.kill('SIGKILL'))
  await eventually('its watchdog', async () => watchdogOf(waiter.pid) > 0)
  const watchdog = watchdogOf(waiter.pid)
  process.kill(watchdog, 'SIGSTOP')
  holder.child.stdin?.end('\n')
  await eventually('its grant', async () => (await recordOf(folder))?.owner === 'second')
  return { folder, waiter, watchdog }
}

async function recordOf(folder: string): Promise<LeaseRecord | undefined> {
  const store = new LocalLeaseStore({ folder: `${folder}/leasehold/leases` })
  const record = await readLease(store, 'x')
  await store.close()
  return record
}

function handlesSignals(pid: number): boolean {
  const caught = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0'
  const SIGTERM = 15
  return (BigInt(`0x${caught}`) & (1n << BigInt(SIGTERM - 1))) !== 0n
}
