import { Module } from 'node:module'
import { createLease, LeaseConfigurationError } from '@leasehold/core'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, vi } from 'vitest'

/** Until the end of the test, no `require` finds a binary that it can load, as on Alpine Linux. */
function breakNativeCode(test: { onTestFinished(end: () => void): void }): Error {
  const modules = Module as unknown as { _load(request: string, ...rest: unknown[]): unknown }
  const load = modules._load
  const failure = new Error('Error relocating fs-native-extensions.node: __register_atfork: symbol not found')
  const spy = vi.spyOn(modules, '_load').mockImplementation((request, ...rest) => {
    if (request === 'fs-native-extensions') throw failure
    return load.call(modules, request, ...rest)
  })
  test.onTestFinished(() => spy.mockRestore())
  return failure
}

describe('where the native code cannot be loaded', () => {
  it('leases work', async (test) => {
    breakNativeCode(test)
    const folder = temporaryFolder(test)
    const [store, other] = [new LocalLeaseStore({ folder }), new LocalLeaseStore({ folder })]
    test.onTestFinished(async () => void (await Promise.all([store.close(), other.close()])))
    const [lease, rival] = [createLease(store, 'x'), createLease(other, 'x')]
    expect(await lease.acquire()).toBe(true)
    expect(await rival.acquire()).toBe(false)
    const waiting = rival.acquire({ wait: 60_000 })
    expect(await lease.release()).toBe(true)
    expect(await waiting).toBe(true)
    expect(await rival.release()).toBe(true)
  })

  it('the constructor of a guard fails with an error that names the alternatives', (test) => {
    const cause = breakNativeCode(test)
    const folder = temporaryFolder(test)
    let error: unknown
    try {
      new LocalGuard({ folder })
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect(error).toMatchObject({ store: 'local', cause })
    for (const part of ['symbol not found', 'node:20-slim', 'the guard of another store', 'LocalLeaseStore itself'])
      expect((error as Error).message).toContain(part)
  })
})
