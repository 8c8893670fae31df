import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Grant } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, type MockInstance, onTestFinished, vi } from 'vitest'
import { LogFile } from '../src/log-file.js'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'

const LEASES = 1_000
const names = Array.from({ length: LEASES }, (_, place) => `lease ${place}`)

function spied(method: 'append' | 'readOn'): MockInstance {
  const spy = vi.spyOn(LogFile.prototype, method)
  onTestFinished(() => spy.mockRestore())
  return spy
}

/** All stores of one folder, and the size of its log. */
function setUp() {
  const folder = temporaryFolder()
  const clock = new VirtualClock()
  return {
    clock,
    open: () => openStore({ folder, clock }),
    logSize: () => {
      const log = readdirSync(folder).find((file) => file.startsWith('leases-'))
      return statSync(join(folder, log ?? '')).size
    },
  }
}

function acquireAll(store: ReturnType<typeof openStore>): Promise<Grant[]> {
  return Promise.all(names.map((name) => granted(claim(store, name, { name }))))
}

describe('a thousand leases', () => {
  it('are renewed with one write of a few bytes for each, and other processes see that', async () => {
    const { clock, open, logSize } = setUp()
    const [store, other] = [open(), open()]
    const grants = await acquireAll(store)
    const size = logSize()
    const append = spied('append')
    for (const renewals of [1, 2, 3]) {
      clock.block(TTL / 2)
      expect(await store.renewMany(grants, call)).toEqual(names.map(() => ({ renewed: true })))
      expect(append).toHaveBeenCalledTimes(renewals)
      for (const name of ['lease 0', 'lease 999']) {
        expect(await other.read(name, call)).toMatchObject({ grantId: name, remaining: TTL, renewals })
      }
    }
    expect(logSize() - size).toBeLessThan(3 * 5 * LEASES)
  })

  it('are renewed in the file that replaced the log, also by a process that knew the log before', async () => {
    const { clock, open, logSize } = setUp()
    const [store, other] = [open(), open()]
    const grants = await acquireAll(store)
    await other.read('lease 0', call)
    // The log is rewritten when it has grown by a mebibyte.
    const [first] = grants as [Grant]
    for (let size = 0; logSize() > size; ) {
      size = logSize()
      await store.update(first, { text: 'x'.repeat(4_000) }, call)
    }
    clock.block(TTL / 2)
    for (const user of [store, other]) {
      expect(await user.renewMany(grants, call)).toEqual(names.map(() => ({ renewed: true })))
    }
    clock.block(TTL - 1)
    for (const name of names) expect((await claim(other, 'challenger', { name })).granted).toBe(false)
  })

  it('have waiters whose requests are written together, and whose watches read the log together', async () => {
    const { open } = setUp()
    const store = open()
    await acquireAll(store)
    const [append, readOn] = [spied('append'), spied('readOn')]
    const other = open()
    const claims = names.map((name) => claim(other, `waiter of ${name}`, { name, queue: true }))
    expect((await Promise.all(claims)).map(({ granted }) => granted)).toEqual(names.map(() => false))
    expect(append).toHaveBeenCalledTimes(1)
    readOn.mockClear()
    const ended = new AbortableCall()
    const watches = names.map((name) => other.watch(name, ended, `waiter of ${name}`)[Symbol.asyncIterator]())
    const turns = watches.map((watch) => watch.next())
    expect(readOn).toHaveBeenCalledTimes(1)
    ended.abort(new Error('the test has ended'))
    await Promise.all(turns)
  })
})
