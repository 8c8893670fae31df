import { EventEmitter, on } from 'node:events'
import { type LeaseStore, LeaseUnavailableError } from '@leasehold/core'
import {
  type GrantKeeper,
  type GrantToKeep,
  grantKeeper,
  type KeptGrant,
  type KeptLease,
} from '@leasehold/core/internal'
import { AbortableCall, type StoreCall, type StoreLimits } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import type { ThreadLink } from './thread-link.js'
import { callPlaces, type OpenedStore, type StoreMethod, type StoreSpec } from './thread-messages.js'

type Method<M extends StoreMethod> = NonNullable<LeaseStore[M]>

/**
 * A store that is open in the heartbeat thread. Operations are passed on to it, and grants are kept there. It is opened again in
 * the next thread, if its thread has ended.
 */
export class ThreadStore implements LeaseStore, GrantKeeper {
  readonly kind?: string
  readonly limits: StoreLimits
  readonly id: number
  readonly [grantKeeper]: GrantKeeper = this
  declare readonly acquire: Method<'acquire'>
  declare readonly renew: Method<'renew'>
  declare readonly release: Method<'release'>
  declare readonly read: Method<'read'>
  declare readonly update?: Method<'update'>
  declare readonly raiseToken?: Method<'raiseToken'>
  declare readonly change?: Method<'change'>
  declare readonly break?: Method<'break'>
  declare readonly withdraw?: Method<'withdraw'>
  declare readonly renewMany?: Method<'renewMany'>
  declare readonly list?: Method<'list'>
  declare readonly watch?: Method<'watch'>
  declare readonly watchGrant?: Method<'watchGrant'>
  declare readonly probe?: Method<'probe'>
  readonly #thread: () => ThreadLink
  readonly #spec: StoreSpec
  readonly #closed = new AbortController()
  #openIn: ThreadLink
  #opening: Promise<ThreadLink> | undefined
  #closing: Promise<void> | undefined

  /** `thread` returns the thread that runs, or a new one. It throws where none can be started. */
  constructor(thread: () => ThreadLink, id: number, spec: StoreSpec, link: ThreadLink, opened: OpenedStore) {
    this.#thread = thread
    this.#spec = spec
    this.#openIn = link
    this.id = id
    this.limits = opened.limits
    if (opened.kind !== undefined) this.kind = opened.kind
    for (const method of opened.methods) {
      const isIterable = method === 'list' || method === 'watch' || method === 'watchGrant'
      const passOn = (...args: readonly unknown[]) =>
        isIterable ? this.#iterate(method, args) : this.#passOn(method, args)
      Object.assign(this, { [method]: passOn })
    }
  }

  get closed(): AbortSignal {
    return this.#closed.signal
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  start(): Promise<void> | undefined {
    if (this.isClosed) return undefined
    try {
      const link = this.#link()
      return link instanceof Promise ? link.then(() => {}) : undefined
    } catch (error) {
      return Promise.reject(error)
    }
  }

  engage(lease: KeptLease, isEngaged: boolean): void {
    if (isEngaged) this.#openIn.engage(lease)
    else this.#openIn.disengage(lease)
  }

  keep(grant: GrantToKeep, lease: KeptLease): KeptGrant {
    return this.#openIn.keep(this.id, grant, lease)
  }

  /** The store was closed, by `close` or by itself. */
  onClosed(): void {
    this.#closed.abort()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.onClosed()
    // A thread that has ended has closed it.
    if (!this.#openIn.isEnded) await this.#openIn.ask({ type: 'close', store: this.id }).answer
  }

  /** The thread that runs and has the store open; a promise while the store is being opened there. */
  #link(): ThreadLink | Promise<ThreadLink> {
    const link = this.#thread()
    if (this.#openIn === link) return link
    this.#opening ??= this.#open(link)
    return this.#opening
  }

  async #open(link: ThreadLink): Promise<ThreadLink> {
    try {
      await link.open(this.id, this.#spec)
      this.#openIn = link
      return link
    } finally {
      this.#opening = undefined
    }
  }

  /** Makes a call in the thread. `onItem` gets the values of an iterable. */
  async #passOn(method: StoreMethod, args: readonly unknown[], onItem?: (item: unknown) => void): Promise<unknown> {
    const { kind: store = 'custom' } = this
    if (this.isClosed) throw new LeaseUnavailableError(`the ${store} store is closed`, { store })
    const opened = this.#link()
    // Without an `await` if possible: code that follows may block this thread.
    const link = opened instanceof Promise ? await opened : opened
    const place = callPlaces[method]
    const call = (args[place] ?? new AbortableCall()) as StoreCall
    const given = args.map((arg, at) => (at === place ? undefined : arg))
    const request = { type: 'call', store: this.id, method, args: given, timeout: call.timeout } as const
    const { id, answer } = link.ask(request, onItem)
    const unlisten = call.onAbort(() => link.post({ type: 'abort', id }))
    return await untilAborted(answer, call).finally(unlisten)
  }

  async *#iterate(method: StoreMethod, args: readonly unknown[]): AsyncGenerator<unknown, void, undefined> {
    const place = callPlaces[method]
    const given = [...args]
    const outer = given[place] as StoreCall | undefined
    const call = new AbortableCall(outer?.timeout)
    given[place] = call
    const unlisten = outer?.onAbort(() => call.abort())
    const emitter = new EventEmitter()
    const items = on(emitter, 'item', { close: ['end'] })
    const end = (): unknown => emitter.emit('end')
    const ended = this.#passOn(method, given, (item) => emitter.emit('item', item))
    ended.then(end, end)
    try {
      for await (const [item] of items) {
        if (call.aborted) return
        yield item
      }
      if (!call.aborted) await ended
    } finally {
      unlisten?.()
      call.abort()
    }
  }
}
