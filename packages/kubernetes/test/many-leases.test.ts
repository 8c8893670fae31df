import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { leases } from './support/api-server/test-api-server.js'
import { call, granted, openStore, startServer } from './support/open-store.js'

/** As long as a slow machine may need, in milliseconds. */
const PATIENCE = { timeout: 30_000, interval: 2 }
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const names = (count: number) => Array.from({ length: count }, (_, place) => `n${place}`)

describe('a store of many leases', () => {
  it('has 25 requests under way at most, and sends a heartbeat before the requests that wait', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    const held: (() => void)[] = []
    server.disturb = () => ({ delay: new Promise<void>((resolve) => void held.push(resolve)) })
    const before = server.requests.length
    const reading = Promise.all(names(40).map((name) => store.read(name, call)))
    await vi.waitFor(() => expect(held.length).toBe(25), PATIENCE)
    const renewing = store.renew(grant, call)
    held.shift()?.()
    await vi.waitFor(() => expect(held.length).toBe(25), PATIENCE)
    // The 26th that the server sees.
    expect(server.requests.slice(before).map(({ method }) => method)).toEqual([...Array(25).fill('GET'), 'PUT'])
    server.disturb = () => undefined
    for (const release of held) release()
    expect(await renewing).toEqual({ renewed: true })
    expect((await reading).length).toBe(40)
  })

  it('checks only once whether it may renew when many are acquired at once', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    await Promise.all(names(60).map((name) => granted(store, { name })))
    expect(server.requests.filter(({ path }) => path === REVIEWS).length).toBe(1)
    expect(server.connections).toBeLessThanOrEqual(25)
    expect(names(60).every((name) => server.get(leases, name) !== undefined)).toBe(true)
  })

  it('checks again where the claim that began the check was given up', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    let isAsked = false
    server.disturb = ({ path }) => {
      if (path !== REVIEWS || isAsked) return undefined
      isAsked = true
      return { delay: new Promise(() => {}) }
    }
    const by = new AbortableCall()
    const first = store.acquire({ name: 'a', owner: 'me', grantId: 'a', ttl: 15_000 }, by)
    await vi.waitFor(() => expect(isAsked).toBe(true), PATIENCE)
    const second = granted(store, { name: 'b' })
    await vi.waitFor(() => expect(server.requests.some(({ path }) => path.endsWith('/b'))).toBe(true), PATIENCE)
    by.abort(new Error('given up'))
    await expect(first).rejects.toThrow('given up')
    expect((await second).name).toBe('b')
  })

  it('opens five watches at a time, and more after a second where the answer has no head yet', async () => {
    const server = await startServer()
    const clock = new VirtualClock()
    const store = await openStore(server.port, { clock })
    let release = (): void => {}
    const delay = new Promise<void>((resolve) => {
      release = resolve
    })
    server.disturb = ({ query }) => (query.has('watch') ? { delay } : undefined)
    const ended = new AbortableCall()
    const listen = async (name: string): Promise<void> => {
      for await (const _ of store.watch?.(name, ended) ?? []) return
    }
    const watches = () => server.requests.filter(({ query }) => query.has('watch')).length
    const listening = names(12).map(listen)
    await vi.waitFor(() => expect(watches()).toBe(5), PATIENCE)
    await store.read('job', call)
    expect(watches()).toBe(5)
    await clock.advance(1_000)
    await vi.waitFor(() => expect(watches()).toBe(10), PATIENCE)
    release()
    await vi.waitFor(() => expect(server.watching).toBe(12), PATIENCE)
    ended.abort()
    await Promise.all(listening)
  })
})
