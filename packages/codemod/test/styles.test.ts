import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLease, LeaseHeldError, type LeaseStore } from '@leasehold/core'
import { describe, expect, test } from 'vitest'
import { runChanged, typeFaults } from './support/run-changed.js'
import { change, textsIn, Workspace } from './support/workspace.js'

const workspace = new Workspace()

interface Changed {
  readonly [name: string]: (...parameters: never[]) => unknown
}

/** A copy of a style, changed; what its entry exports, and the store that its code uses. */
function changed(name: string, entry: string) {
  const folder = workspace.style(name)
  const { leftovers } = change(folder)
  expect(leftovers).toEqual([])
  const { store, ...exports } = runChanged(join(folder, entry))
  return { folder, code: exports as Changed, store: store as LeaseStore }
}

const holds = async (store: LeaseStore, name: string): Promise<boolean> => !(await createLease(store, name).acquire())

/** Work that reports its start, and that the test ends. */
function pausedWork() {
  let start = (): void => {}
  let end = (): void => {}
  const started = new Promise<void>((resolve) => {
    start = resolve
  })
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const work = async (): Promise<void> => {
    start()
    await ended
  }
  return { work, started, end: () => end() }
}

describe('each style of using redlock', () => {
  const styles = ['injected', 'common-js', 'signal', 'try-finally', 'nest', 'express', 'readme']

  test.each(styles)('%s: changes the code, and no more the second time', (name) => {
    const folder = workspace.style(name)
    expect(change(folder).leftovers).toEqual([])
    const texts = textsIn(folder)
    for (const text of Object.values(texts)) expect(text).not.toMatch(/Redlock\b.*from|new Redlock|\.using\(/)
    expect(change(folder)).toEqual({ changed: [], leftovers: [] })
    expect(textsIn(folder)).toEqual(texts)
  })

  test('the compiler accepts the result', () => {
    const folders = styles.map((name) => {
      const folder = workspace.style(name)
      change(folder)
      return folder
    })
    const files = folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file)),
    )
    expect(files).toHaveLength(7)
    expect(typeFaults(files)).toEqual([])
  })
})

test('the example of the README', () => {
  const folder = workspace.style('readme')
  change(folder)
  const after = readFileSync(new URL('readme/withdraw.ts.txt', import.meta.url), 'utf8')
  expect(textsIn(folder)).toEqual({ 'withdraw.ts': after })
})

test('a class with an injected instance: holds the lease of the day, and waits as long as redlock would', async () => {
  const { code, store, folder } = changed('injected', 'main.ts')
  const { work, started, end } = pausedWork()
  const service = code.createService?.({ write: async (day: string) => work().then(() => day) } as never) as {
    write(day: string): Promise<string>
  }
  const written = service.write('monday')
  await started
  expect(await holds(store, 'report:monday')).toBe(true)
  end()
  expect(await written).toBe('monday')
  expect(await holds(store, 'report:monday')).toBe(false)
  expect(textsIn(folder)['report-service.ts']).toContain('// Two reports of a day would overwrite each other.')
  expect(textsIn(folder)['report-service.ts']).toContain('{ wait: 300 }')
})

test('an instance of a CommonJS module: tries once with retryCount 0, and gives the signal', async () => {
  const { code, store } = changed('common-js', 'jobs.js')
  const runJob = code.runJob as (customer: string, job: (signal: AbortSignal) => unknown) => Promise<unknown>
  expect(await runJob('anna', async (signal) => signal.aborted)).toBe(false)
  const other = createLease(store, 'jobs:anna')
  await other.acquire()
  await expect(runJob('anna', () => 1)).rejects.toThrow(LeaseHeldError)
  await other.release()
})

test('using with a signal: throws the reason when the lease is lost', async () => {
  const { code, store } = changed('signal', 'transfer.ts')
  const withdraw = code.withdraw as (
    balances: Map<string, number>,
    account: string,
    amount: number,
    step: () => Promise<void>,
  ) => Promise<number>
  const balances = new Map([['anna', 10]])
  expect(await withdraw(balances, 'anna', 3, async () => {})).toBe(7)
  const lost = withdraw(balances, 'anna', 3, async () => store.close())
  await expect(lost).rejects.toMatchObject({ name: 'LeaseLostError' })
  expect(balances.get('anna')).toBe(7)
})

test('acquire, try and finally: returns the value, leaves loops, and frees the lease after a failure', async () => {
  const { code, store } = changed('try-finally', 'import.ts')
  const importOnce = code.importOnce as (file: string, read: () => Promise<number>) => Promise<number>
  expect(await importOnce('a', async () => 3)).toBe(3)
  expect(await importOnce('a', async () => 0)).toBe(-1)
  await expect(importOnce('a', () => Promise.reject(new Error('no such file')))).rejects.toThrow('no such file')
  expect(await holds(store, 'import')).toBe(false)

  const importAll = code.importAll as (files: string[], read: (file: string) => Promise<number>) => Promise<number>
  const rows: Record<string, number> = { a: 1, b: 2, c: 0, d: 4 }
  expect(await importAll(Object.keys(rows), async (file) => rows[file] ?? 0)).toBe(3)
  const other = createLease(store, 'import:e')
  await other.acquire()
  await expect(importAll(['e'], async () => 1)).rejects.toThrow(LeaseHeldError)
  await other.release()
})

test('several resources: holds all of them, also if they are the same', async () => {
  const { code, store } = changed('nest', 'transfers.service.ts')
  const Service = code.TransfersService as unknown as new (
    store: LeaseStore,
  ) => { transfer(from: string, to: string, move: () => Promise<void>): Promise<string> }
  const service = new Service(store)
  const { work, started, end } = pausedWork()
  const moved = service.transfer('a', 'b', work)
  await started
  expect(await holds(store, 'account:a')).toBe(true)
  expect(await holds(store, 'account:b')).toBe(true)
  end()
  expect(await moved).toBe('moved')
  expect(await service.transfer('c', 'c', async () => {})).toBe('moved')
})

test('an express handler: answers, and hands the error of a lease on', async () => {
  const { code, store } = changed('express', 'app.mjs')
  const app = code.createApp?.((async () => {}) as never) as {
    listen(port: number): import('node:http').Server
  }
  const server = app.listen(0)
  try {
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const post = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST' })
    expect(await (await post('/transfers/1/2')).json()).toEqual({ ok: true })
    const other = createLease(store, '2')
    await other.acquire()
    const refused = await post('/transfers/1/2')
    expect(refused.status).toBe(500)
    expect(await holds(store, '1')).toBe(false)
    await other.release()
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
