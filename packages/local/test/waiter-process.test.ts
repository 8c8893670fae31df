import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { bootOf } from '../src/boot.js'
import { LeaseDatabase } from '../src/lease-database.js'
import { LeaseFolder } from '../src/lease-folder.js'
import { LeaseOperations } from '../src/lease-operations.js'
import { isDead, thisWaiter, type WaiterProcess } from '../src/waiter-process.js'
import { acquisition } from './support/acquisition.js'
import { bundle } from './support/bundle.js'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'

const self = thisWaiter()

/** Another process of this machine that lives until the end of the test. */
function spawnWaiter(script = 'exec sleep 600'): { readonly pid: number; readonly lines: AsyncIterator<string> } {
  const child = spawn('sh', ['-c', script])
  onTestFinished(() => void child.kill('SIGKILL'))
  if (child.pid === undefined) throw new Error('sh could not be started')
  return { pid: child.pid, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
}

/** The waiter that the main thread of a process is. */
function waiterOf(pid: number): WaiterProcess {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const started = text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  return { ...self, pid, thread: String(pid), started }
}

describe.skipIf(!existsSync('/proc/self/stat'))('a waiter', () => {
  it('is this thread, or one of another process that lives', () => {
    expect(isDead(self, self)).toBe(false)
    expect(isDead(waiterOf(spawnWaiter().pid), self)).toBe(false)
  })

  it('whose process has ended is dead', async () => {
    const child = spawn('true')
    const waiter = { ...self, pid: child.pid ?? 0, thread: String(child.pid) }
    await once(child, 'exit')
    expect(isDead(waiter, self)).toBe(true)
  })

  it('whose number another process has now is dead', () => {
    const other = waiterOf(spawnWaiter().pid)
    expect(isDead({ ...other, started: '1' }, self)).toBe(true)
  })

  it('whose number this thread has now is dead', () => {
    expect(isDead({ ...self, started: '1' }, self)).toBe(true)
  })

  it('that was killed is dead before its parent has noticed', async () => {
    const { pid: parent, lines } = spawnWaiter('sleep 600 & echo $!; exec sleep 600')
    const pid = Number((await lines.next()).value)
    // Before that, the shell would read the exit status.
    await vi.waitUntil(() => readFileSync(`/proc/${parent}/comm`, 'utf8') === 'sleep\n', { timeout: 20_000 })
    const waiter = waiterOf(pid)
    expect(isDead(waiter, self)).toBe(false)
    process.kill(pid, 'SIGKILL')
    await vi.waitUntil(() => isDead(waiter, self), { timeout: 20_000 })
    expect(() => process.kill(pid, 0)).not.toThrow()
  })

  it('of another user, without permission to signal it, may live', () => {
    const other = waiterOf(spawnWaiter().pid)
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
    })
    onTestFinished(() => kill.mockRestore())
    expect(isDead(other, self)).toBe(false)
  })

  it('of another namespace, or of a system without /proc, may live', () => {
    const other = { ...waiterOf(spawnWaiter().pid), started: '1' }
    expect(isDead({ ...other, namespace: 'pid:[1]' }, self)).toBe(false)
    expect(isDead({ ...other, thread: '', started: '' }, self)).toBe(false)
  })

  it('whose thread was terminated is dead, though its process lives', async () => {
    const code = `require('node:worker_threads').parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'))
      setInterval(() => {}, 1_000)`
    const worker = new Worker(code, { eval: true })
    const [link] = (await once(worker, 'message')) as [string]
    const thread = link.split('/').at(-1) ?? ''
    const text = readFileSync(`/proc/${link}/stat`, 'latin1')
    const started = text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? ''
    const waiter = { ...self, thread, started }
    expect(thread).not.toBe(self.thread)
    expect(isDead(waiter, self)).toBe(false)
    await worker.terminate()
    await vi.waitUntil(() => isDead(waiter, self), { timeout: 20_000 })
  })
})

describe.skipIf(!existsSync('/proc/self/stat'))('the queue of a name', () => {
  it('skips a waiter whose number another process has now', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const store = openStore({ folder, clock })
    const holder = await granted(claim(store, 'holder'))

    const boot = bootOf({ clock }, folder)
    const database = new LeaseDatabase(new LeaseFolder({ folder }), boot)
    onTestFinished(() => database.entries.close())
    const before = { ...waiterOf(spawnWaiter().pid), started: '1' }
    const dead = new LeaseOperations(database, before, boot)
    const request = { name: 'job', owner: 'dead', grantId: 'dead', ttl: 10 * TTL, queue: true }
    const { change = {} } = acquisition(dead, request)
    expect(database.entries.attempt([{ key: 'job', change }]).accepted).toEqual([true])

    expect((await claim(store, 'next', { queue: true })).granted).toBe(false)
    await store.release(holder, call)
    expect((await claim(store, 'next', { queue: true })).granted).toBe(true)
  })

  it('skips a waiter whose thread was terminated', async () => {
    const folder = temporaryFolder()
    const store = openStore({ folder })
    const holder = await granted(claim(store, 'holder', { ttl: 600_000 }))
    const program = await bundle(temporaryFolder(), 'waiting-thread')
    const worker = new Worker(program, { workerData: { folder } })
    await once(worker, 'message')
    await worker.terminate()
    await store.release(holder, call)
    // The thread may take a moment to end.
    for (let n = 0; n < 200; n += 1) {
      if ((await claim(store, 'next', { queue: true })).granted) return
      await pause(50)
    }
    expect.unreachable('the place of the thread is kept')
  })
})
