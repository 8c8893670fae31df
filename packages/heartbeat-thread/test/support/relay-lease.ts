import { randomUUID } from 'node:crypto'
import { BroadcastChannel } from 'node:worker_threads'
import { type LeaseFactory, type LeaseStore, StoreLease } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { fromPortable } from '../../src/portable-error.js'
import { callPlaces, type StoreMethod } from '../../src/thread-messages.js'
import type { RelayOptions, RelayReply, RelayRequest } from './relayed-calls.js'

/** Makes leases in the thread over a store that the test has in its own thread, where it can disturb it. */
export const relayLease: LeaseFactory = async (settings, { share }) => {
  const options = settings.options as unknown as RelayOptions
  return new StoreLease(settings, await share(options.store, () => createRelay(options)))
}

interface Pending {
  readonly end: (error?: unknown, value?: unknown) => void
  readonly onItem: (value: unknown) => void
}

function createRelay({ channel: name, store, opened }: RelayOptions): LeaseStore {
  const channel = new BroadcastChannel(name)
  const pending = new Map<string, Pending>()
  const closed = new AbortController()
  const post = (request: RelayRequest): void => channel.postMessage(request)
  channel.onmessage = (event) => {
    const reply = (event as { data: RelayReply }).data
    if (reply.type === 'closed') {
      if (reply.store === store) closed.abort()
      return
    }
    if (!('id' in reply)) return
    const call = pending.get(reply.id)
    if (reply.type === 'item') return call?.onItem(reply.value)
    pending.delete(reply.id)
    if (reply.type === 'error') call?.end(fromPortable(reply.error))
    else if (reply.type === 'answer') call?.end(undefined, reply.value)
  }
  const send = (method: StoreMethod, args: readonly unknown[], onItem: (value: unknown) => void): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = randomUUID()
      const place = callPlaces[method]
      const call = (args[place] ?? new AbortableCall()) as StoreCall
      pending.set(id, { end: (error, value) => (error === undefined ? resolve(value) : reject(error)), onItem })
      call.onAbort(() => {
        post({ type: 'abort', id })
        reject(call.signal.reason)
      })
      const given = args.map((arg, at) => (at === place ? undefined : arg))
      post({ type: 'call', id, store, method, args: given, timeout: call.timeout })
    })
  const methods = opened.methods.map((method) => [
    method,
    method === 'list' || method === 'watch' || method === 'watchGrant'
      ? (...args: readonly unknown[]) => iterate((onItem) => send(method, args, onItem))
      : (...args: readonly unknown[]) => send(method, args, () => {}),
  ])
  return {
    ...(Object.fromEntries(methods) as Pick<LeaseStore, 'acquire' | 'renew' | 'release' | 'read'>),
    ...(opened.kind === undefined ? {} : { kind: opened.kind }),
    limits: opened.limits,
    closed: closed.signal,
    close: async () => {
      closed.abort()
      // The store itself stays open: the next thread may open it again.
      channel.close()
    },
  }
}

async function* iterate(begin: (onItem: (value: unknown) => void) => Promise<unknown>): AsyncGenerator<unknown> {
  const items: unknown[] = []
  let wake = (): void => {}
  let isEnded = false
  const ended = begin((item) => {
    items.push(item)
    wake()
  })
  const end = (): void => {
    isEnded = true
    wake()
  }
  ended.then(end, end)
  while (!isEnded || items.length > 0) {
    if (items.length > 0) yield items.shift()
    else await new Promise<void>((resolve) => (wake = resolve))
  }
  await ended
}
