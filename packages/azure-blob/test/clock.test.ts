import { LeaseUnauthorisedError } from '@leasehold/core'
import { wallTime } from '@leasehold/core/store-kit'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { Azurite } from './support/azurite.js'
import { granted, never } from './support/claims.js'
import { Proxied } from './support/proxied.js'
import type { Rule } from './support/service-proxy.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
afterEach(() => {
  vi.useRealTimers()
})

const HOUR = 3_600_000

/** Moves the wall clock of this process, and nothing else of it. */
function moveWallClock(by: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: wallTime() + by })
}

/** Rejects signatures whose date is too far off, like the service and unlike Azurite. */
function checksDates(now: () => number): Rule {
  return ({ date = '' }) => {
    if (Math.abs(Date.parse(date) - now()) < 15 * 60_000) return undefined
    const headers = { date: new Date(now()).toUTCString(), 'x-ms-error-code': 'AuthenticationFailed' }
    return { kind: 'answer', status: 403, headers }
  }
}

describe('a machine whose clock is off by hours', () => {
  it.each([
    { by: 5 * HOUR, says: /clock of this machine is 300 minutes ahead of the service's: set it/ },
    { by: -2 * HOUR, says: /clock of this machine is 120 minutes behind the service's: set it/ },
  ])('gets an error that names the clock if the service rejects its signature: $by ms', async ({ by, says }) => {
    const finish: (() => unknown)[] = []
    const proxied = await Proxied.open({ onTestFinished: (end) => finish.push(end) }, azurite)
    proxied.proxy.behave(checksDates(() => wallTime() - by))
    moveWallClock(by)
    await expect(proxied.acquire()).rejects.toThrow(says)
    await expect(proxied.store.read('job', never)).rejects.toThrow(LeaseUnauthorisedError)
    vi.useRealTimers()
    for (const end of finish) await end()
  })

  it('names the key and the clock if the service only rejects the signature', async (test) => {
    const proxied = await Proxied.open(test, azurite)
    const headers = { 'x-ms-error-code': 'AuthenticationFailed' }
    proxied.proxy.behave(() => ({ kind: 'answer', status: 403, headers }))
    await expect(proxied.acquire()).rejects.toThrow(/check the key, the SAS token or the credential, and the clock/)
  })

  it('names the missing role', async (test) => {
    const proxied = await Proxied.open(test, azurite)
    const headers = { 'x-ms-error-code': 'AuthorizationPermissionMismatch' }
    proxied.proxy.behave(() => ({ kind: 'answer', status: 403, headers }))
    await expect(proxied.acquire()).rejects.toThrow(/needs the role 'Storage Blob Data Contributor'/)
  })

  it('has tokens by the clock of the service, and keeps its lease', { timeout: 60_000 }, async (test) => {
    const real = wallTime()
    const held = await Proxied.held(test, azurite)
    moveWallClock(7 * HOUR)
    const { fencingToken } = await granted(held.store, 'other')
    expect(Math.abs(Number(fencingToken) - real)).toBeLessThan(60_000)
    await vi.waitUntil(() => held.events.includes('renewed'), { timeout: 10_000 })
    expect(held.lease.checkLease()).toBe(true)
    expect(held.lost).toEqual([])
    vi.useRealTimers()
  })
})
