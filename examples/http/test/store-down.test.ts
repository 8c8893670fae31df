import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type LeaseStore, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { createParts } from '../src/parts.js'
import { shutDown } from '../src/shut-down.js'
import { serveWithExpress } from '../src/with-express.js'
import { serveWithHono } from '../src/with-hono.js'
import { serveWithHttp } from '../src/with-http.js'

/** A store that answers only while `isUp`. */
function createStore() {
  const state = { isUp: false }
  const memory = new MemoryLeaseStore()
  const store: LeaseStore = new Proxy(memory, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        if (!state.isUp && property !== 'close') throw new LeaseUnavailableError('connect ECONNREFUSED 127.0.0.1:6379')
        return value.apply(target, args)
      }
    },
  })
  return { state, store }
}

it.concurrent.each([
  ['plain http', serveWithHttp],
  ['Express', serveWithExpress],
  ['Hono', serveWithHono],
])(
  '%s starts while the store is down, its health route tells it, and all is well when the store is up',
  async (_kind, serve) => {
    const { state, store } = createStore()
    const parts = createParts(store, 'anna', async () => {})
    const server = serve(parts, async () => ({}), 0)
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const look = async () => {
      const response = await fetch(`${address}/healthz`)
      return { status: response.status, body: await response.json() }
    }
    expect((await look()).status).toBe(200)
    const reason = expect.stringMatching(/^election 'writer': the store cannot be reached/)
    await expect
      .poll(look, { timeout: 30_000 })
      .toMatchObject({ status: 503, body: { election: { healthy: false, reason } } })
    state.isUp = true
    await expect.poll(look, { timeout: 30_000 }).toMatchObject({ status: 200, body: { election: { healthy: true } } })
    expect(await (await fetch(`${address}/accounts/7`, { method: 'POST' })).json()).toEqual({})
    await shutDown(server, parts)
    expect(parts.election.isLeader).toBe(false)
  },
)
