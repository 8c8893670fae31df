import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import { createTimeMemory } from '@leasehold/core/internal'
import { describe, it, vi } from 'vitest'
import { KeptSlots } from '../src/kept-slots.js'
import { ThreadHost } from '../src/thread-host.js'
import type { Reply, StoreSpec } from '../src/thread-messages.js'

const STORE = 1

const store: StoreSpec = {
  leaseClass: '@leasehold/core#memoryLease',
  file: undefined,
  path: 'leaseClass',
  options: {},
  leaseName: 'job',
  timeout: Number.POSITIVE_INFINITY,
}

/** The inside of a thread. The test is its user. */
function createHost() {
  const replies: Reply[] = []
  const memory = { time: createTimeMemory(), slots: new KeptSlots().memory }
  const host = new ThreadHost(
    memory,
    (sent) => void replies.push(...sent),
    () => {},
  )
  return { host, replies }
}

describe('a heartbeat thread', () => {
  it('closes a store that opens when it is not wanted any more', async (test) => {
    const { host, replies } = createHost()
    const channel = new BroadcastChannel(randomUUID())
    test.onTestFinished(() => channel.close())
    const said: unknown[] = []
    channel.onmessage = ({ data }: { data: unknown }) => void said.push(data)
    const leaseClass = `${new URL('support/gated-lease.ts', import.meta.url).pathname}#gatedLease`
    const spec = { ...store, leaseClass, options: { channel: channel.name } }
    host.receive([{ type: 'open', id: 1, store: STORE, spec }])
    await vi.waitUntil(() => said.at(-1) === 'asked', 60_000)
    host.receive([{ type: 'close', id: 2, store: STORE }])
    channel.postMessage('open')
    await vi.waitUntil(() => said.at(-1) === 'closed')
    await vi.waitUntil(() => replies.some((reply) => reply.type === 'error' && reply.id === 1))
  })
})
